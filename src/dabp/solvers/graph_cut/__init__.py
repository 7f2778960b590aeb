"""Moves by minimum cuts: expansion and fusion."""
