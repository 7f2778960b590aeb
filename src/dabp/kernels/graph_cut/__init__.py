"""Minimum cuts, and the moves that are made of them."""
