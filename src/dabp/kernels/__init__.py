"""Compiled inner loops on plain arrays."""
