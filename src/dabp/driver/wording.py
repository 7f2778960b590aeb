"""Numbers and endings as people read them, in the live line and in summaries."""

from __future__ import annotations

NOISE = 1e-13
"""Digits beyond this part of a number are rounding."""


def number(value: float | None) -> str:
    """A cost with all its digits: integers without decimals, rounding left away, unknown as a dash."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{value:.0f}"
    short = f"{value:.12g}"
    return short if abs(float(short) - value) <= NOISE * abs(value) else f"{value:.15g}"


def percent(gap: float) -> str:
    """A gap; one that is not closed is never 0."""
    return "<0.01%" if 0 < gap < 0.5e-4 else f"{gap:.2%}"
