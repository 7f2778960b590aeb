"""Compiled linear assignment and the bounds that it gives for pairs of assignments."""
