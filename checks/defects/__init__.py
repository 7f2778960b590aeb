"""The defects that an attack on version 0.1.0 found, each as a small program that fails on that version.

``python -m checks.defects`` runs them on this version, with ``--source FOLDER`` on another checkout.
"""
