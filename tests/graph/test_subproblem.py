"""Windows cost what the whole problem costs, but for the factors outside."""

from __future__ import annotations

import numpy as np

from dabp.graph.subproblem import Surroundings
from dabp.problem import Problem


def drawn(seed: int) -> tuple[Problem, np.random.Generator]:
    """A random pairwise problem with domains of any size, some tables shared, some variables with two factors."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 30))
    sizes = rng.integers(1, 5, count)
    tables = [((i,), rng.integers(0, 9, sizes[i]) * 1.0) for i in range(count) if rng.random() < 0.7]
    for _ in range(2 * count):
        i, j = rng.permutation(count)[:2].tolist()
        tables.append(((i, j), rng.integers(0, 9, (sizes[i], sizes[j])) * 1.0))
    return Problem.from_tables(sizes.tolist(), tables), rng


def test_costs_differ_by_what_is_outside() -> None:
    """For any values inside, window and whole problem differ by the same amount."""
    for seed in range(60):
        problem, rng = drawn(seed)
        around = Surroundings(problem)
        near, _ = around.nearest(int(rng.integers(problem.num_variables)), int(rng.integers(1, 60)))
        values = rng.integers(problem.domain_sizes)
        window = around.window(near, values)
        assert window.variables.tolist() == sorted(near.tolist())
        differences = set()
        for _ in range(10):
            inside = rng.integers(window.problem.domain_sizes)
            whole = values.copy()
            whole[window.variables] = inside
            differences.add(float(problem.cost(whole)) - float(window.problem.cost(inside)))
        assert len(differences) == 1


def test_nearest_first() -> None:
    """On a path the variables around one come in the order of their distance, and nothing is there twice."""
    path = Problem.from_tables([2] * 50, [((i, i + 1), np.eye(2)) for i in range(49)])
    near, core = Surroundings(path).nearest(20, 40)
    distance = np.abs(near - 20)
    assert (np.diff(distance) >= 0).all()
    assert len(set(near.tolist())) == len(near) == 2 * distance.max() + 1
    assert core.tolist() == near[: len(core)].tolist()
    assert 0 < len(core) < len(near)
    near, core = Surroundings(path).nearest(20, 10_000)
    assert len(near) == len(core) == 50
