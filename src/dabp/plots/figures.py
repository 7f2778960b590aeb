"""The numbers of a figure, apart from how they are drawn: a panel per group of instances, a curve per solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Curve:
    """One solver in one panel; `half` is the half width of the 95 % confidence interval (NaN: none)."""

    label: str
    x: list[Any]
    y: list[float]
    half: list[float] = field(default_factory=list)
    runs: int = 0


@dataclass
class Panel:
    """One group of instances; `focus` is the range of y worth looking at, if not all of it."""

    title: str
    curves: list[Curve]
    focus: tuple[float, float] | None = None


@dataclass
class Figure:
    """`kind` is line (x are numbers), dots (x are words, with intervals) or bars (x are words, from zero)."""

    name: str
    title: str
    x_label: str
    y_label: str
    kind: str
    panels: list[Panel]
    log_x: bool = False
