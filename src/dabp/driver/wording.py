"""Numbers as people read them, in the live line and in summaries."""

from __future__ import annotations


def number(value: float | None) -> str:
    """A cost with all its digits: integers without decimals, rounding left away, unknown as a dash."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{value:.0f}"
    short = f"{value:.12g}"
    return short if abs(float(short) - value) <= 1e-13 * abs(value) else f"{value:.15g}"


def counted(count: int, noun: str) -> str:
    """A number with a noun, whose plural ends in s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(gap: float) -> str:
    """A gap; one that is not closed is never 0."""
    return "<0.01%" if 0 < gap < 0.5e-4 else f"{gap:.2%}"
