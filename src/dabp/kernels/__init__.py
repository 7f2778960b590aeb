"""Compiled inner loops on plain arrays and NamedTuples of arrays (Numba), knowing no class of ours."""
