"""The defects that an attack on version 0.1.0 found, each as a small program that fails on that version.

``python -m tests.defects`` runs them on this version, ``python -m tests.defects --source FOLDER`` on another checkout.
"""
