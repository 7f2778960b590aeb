"""Bounds and proofs where variables must all differ."""
