"""Moves of local search on a table of local costs."""
