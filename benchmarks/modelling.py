"""How long building a problem takes: ``python -m benchmarks.modelling``.

80,000 binary factors over 40,000 variables of 16 values, as one table, as few tables with an index, as a table for each
(equal ones stored once), as an image, and one by one as a loop in Python would add them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

import dabp

SIDE, LABELS, REPEATS = 200, 16, 5


def pairs() -> np.ndarray:
    """Neighbours of a square image, [m, 2]."""
    pixels = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    right = np.stack([pixels[:, :-1].ravel(), pixels[:, 1:].ravel()], axis=1)
    down = np.stack([pixels[:-1].ravel(), pixels[1:].ravel()], axis=1)
    return np.concatenate([right, down])


def model() -> dabp.Model:
    """A model with the variables only."""
    made = dabp.Model()
    made.add_variables((f"x{i}" for i in range(SIDE * SIDE)), LABELS)
    return made


def timed(what: str, action: Callable[[dabp.Model], None]) -> None:
    """Print the median of several times, and how many costs the problem stores."""
    seconds, problem = [], None
    for _ in range(REPEATS):
        made = model()
        start = time.process_time()
        action(made)
        seconds.append(time.process_time() - start)
        problem = made.build()
    assert problem is not None
    print(f"{what:38s} {statistics.median(seconds):8.3f} s of CPU   {len(problem.pool):>12,} costs stored")


def main() -> None:
    """All ways."""
    scopes = pairs()
    apart = np.abs(np.subtract.outer(np.arange(LABELS), np.arange(LABELS)))
    few = np.stack([weight * np.minimum(apart, 2.0) for weight in (10.0, 20.0)])
    index = np.random.default_rng(0).integers(0, 2, len(scopes))
    timed("add_costs, one table", lambda made: made.add_costs(scopes, few[0]))
    timed("add_costs, two tables and an index", lambda made: made.add_costs(scopes, few, index))
    each = few[index]
    timed("add_costs, a table for each", lambda made: made.add_costs(scopes, each))
    names = [(f"x{i}", f"x{j}") for i, j in scopes.tolist()]

    def one_by_one(made: dabp.Model) -> None:
        for scope, number in zip(names, index.tolist(), strict=True):
            made.add_cost(scope, few[number])

    timed("add_cost, one by one", one_by_one)
    unary = np.random.default_rng(1).integers(0, 20, (SIDE, SIDE, LABELS))
    start = time.process_time()
    problem = dabp.Problem.grid(unary, "truncated-linear", cap=2, weights=10.0)
    print(f"{'Problem.grid':38s} {time.process_time() - start:8.3f} s of CPU   {len(problem.pool):>12,} costs stored")


if __name__ == "__main__":
    main()
