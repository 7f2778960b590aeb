"""Solves and experiments ended at random moments: nothing known is lost, nothing is left behind.

``python -m checks.kills --kills 200`` takes every solver that can be checkpointed, ``toulbar2`` and an experiment in
turn, and ends each at random moments with SIGKILL, SIGTERM and SIGINT; then solves on disks that are full or read-only
(where mounting is allowed), and two at a time on one checkpoint. ``--solver NAME`` takes one of them.
"""
