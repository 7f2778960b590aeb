"""How long restarts should be when nobody knows which length is best."""

from __future__ import annotations


def luby(index: int) -> int:
    """The sequence 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8 … (Luby, Sinclair & Zuckerman 1993), from index 1."""
    while index & (index + 1):
        index -= (1 << (index.bit_length() - 1)) - 1
    return (index + 1) // 2
