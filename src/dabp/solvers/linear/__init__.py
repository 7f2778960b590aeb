"""The linear relaxation of a problem: its columns and rows, bounds that are safe against rounding, and the solver."""
