"""Problems whose variables must differ, for the tests of exchanges."""

from __future__ import annotations

import numpy as np

from dabp.problem import Problem


def permutation_problem(seed: int) -> Problem:
    """Six to eight variables that must differ, some others, and costs on pairs.

    By seed: as many values as variables, or some to spare; values in another order for each variable, or missing from
    some; the constraint in the tables of costs or in factors of its own; whole or real costs.
    """
    rng = np.random.default_rng([seed, 7])
    members, spare = int(rng.integers(6, 9)), int(rng.choice([0, 0, 2]))
    labels = [rng.permutation(members + spare) if seed % 2 else np.arange(members + spare) for _ in range(members)]
    if spare and seed % 4 == 1:
        labels = [own[: len(own) - int(rng.integers(2))] for own in labels]
    others = [int(size) for size in rng.integers(2, 5, 2)]
    sizes = [len(own) for own in labels] + others
    factors: list[tuple[tuple[int, ...], np.ndarray]] = []
    for i in range(members):
        factors.append(((i,), _costs(rng, seed, (sizes[i],))))
        for j in range(i):
            equal = np.where(labels[i][:, None] == labels[j][None, :], np.inf, 0.0)
            costs = _costs(rng, seed, (sizes[i], sizes[j]))
            if seed % 3 == 0:
                factors += [((i, j), equal), ((i, j), costs)]
            else:
                factors.append(((i, j), equal + (costs if rng.random() < 0.5 else 0.0)))
    for k in range(members, len(sizes)):
        i = int(rng.integers(members))
        factors.append(((i, k), _costs(rng, seed, (sizes[i], sizes[k]))))
    return Problem.from_tables(sizes, factors)


def _costs(rng: np.random.Generator, seed: int, shape: tuple[int, ...]) -> np.ndarray:
    costs = rng.integers(0, 100, shape).astype(float)
    return costs * 0.37 if seed % 5 == 4 else costs
