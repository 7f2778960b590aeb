"""Differential testing by kind: problems drawn to be awkward, every solver against exact enumeration.

``python -m checks.torture --problems 5000 --seconds 3600 --jobs 2`` draws them by seed; ``--seed S`` repeats one.
"""
