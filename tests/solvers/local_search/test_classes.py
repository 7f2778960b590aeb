"""Classes of variables that share no factor."""

from __future__ import annotations

import numpy as np

import dabp
from dabp.problem import Problem
from dabp.solvers.local_search.classes import class_of_each


def test_variables_of_a_class_share_no_factor() -> None:
    """On random graphs, and with factors of three and four variables."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        scopes = [tuple(rng.choice(12, rng.integers(1, 5), replace=False).tolist()) for _ in range(25)]
        problem = Problem.from_tables([2] * 12, [(scope, np.zeros((2,) * len(scope))) for scope in scopes])
        classes = class_of_each(problem)
        for scope in scopes:
            assert len(set(classes[list(scope)].tolist())) == len(scope), seed


def test_grids_have_two_classes() -> None:
    """As a chessboard has, so that sweeps of grids are two steps; without factors there is one."""
    problem = Problem.grid(np.zeros((7, 9, 3)), np.ones((3, 3)) - np.eye(3))
    assert class_of_each(problem).max() == 1
    assert class_of_each(Problem.from_tables([3, 2], [])).tolist() == [0, 0]
    assert class_of_each(dabp.generate("random-cop", variables=8, density=1.0, seed=0)).max() == 7
