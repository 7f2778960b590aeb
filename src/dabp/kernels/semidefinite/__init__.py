"""Compiled inner loops of the semidefinite bound."""
