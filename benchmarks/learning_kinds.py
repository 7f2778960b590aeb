"""The problems that `bp-learned` is judged on: generator seeds from 30001, none of which any training has seen."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.large_problems import KINDS as LARGE
from dabp.lab.generators import generate
from dabp.problem import Problem

FIRST_SEED = 30_001
SIZES = (100, 300, 1000)


def _family(kind: str, variables: int) -> Callable[[int], Problem]:
    """The paper's families; above 100 variables the density that keeps the degree at 25."""
    shapes: dict[str, dict[str, object]] = {
        "random-cop": {"domain": 15, "density": 25 / variables},
        "graph-coloring": {"density": 25 / variables},
        "scale-free": {"domain": 15, "m0": 10, "m1": 10},
        "small-world": {"domain": 15, "k": 10, "p": 0.3},
    }
    return lambda seed: generate(kind, variables=variables, seed=seed, **shapes[kind])


def _ising(side: int) -> Callable[[int], Problem]:
    return lambda seed: generate("ising", row_count=side, col_count=side, seed=seed)


JUDGED: dict[str, Callable[[int], Problem]] = {
    **{
        f"{kind} {size}": _family(kind, size)
        for kind in ("random-cop", "graph-coloring", "scale-free", "small-world")
        for size in SIZES
    },
    "regular 3000": LARGE["regular"],
    "grid 100x100": LARGE["grid"],
}
"""The four families in three sizes, and the large kinds: scale-free networks with 1,000 variables are both."""

HELD_OUT: dict[str, Callable[[int], Problem]] = {
    "ising 30x30": _ising(30),
    "ising 100x100": _ising(100),
}
"""Beside small-world, which is among the families: no policy is trained on either."""

LARGE_KINDS = ("regular 3000", "scale-free 1000", "grid 100x100")

EVERY = {**JUDGED, **HELD_OUT}
