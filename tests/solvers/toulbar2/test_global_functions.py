"""Hard global functions handed to toulbar2: the same answers, and proofs that tables do not give."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.solvers.toulbar2.global_functions import global_posts

pytest.importorskip("pytoulbar2")


def drawn(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    model = Model()
    names = model.add_variables([f"v{i}" for i in range(6)], 4)
    for name in names:
        model.add_cost([name], rng.integers(0, 9, 4).tolist())
    model.gcc(names, {0: (1, 2), 3: (0, int(rng.integers(1, 3)))})
    model.all_different(names[:3], excepted=[0] if seed % 2 else [])
    model.linear(dict(zip(names, rng.integers(-2, 3, 6).tolist(), strict=True)), "<=", int(rng.integers(-3, 4)))
    model.same(names[:3], names[3:])
    return model.build()


@pytest.mark.parametrize("presolve", [False, True])
def test_the_optimum_is_the_same(presolve: bool) -> None:
    """With and without the functions, which follow from the tables."""
    for seed in range(6):
        problem = drawn(seed)
        results = [
            dabp.solve(problem, solver="toulbar2", params={"statements": on}, presolve=presolve, time_limit=20)
            for on in (True, False)
        ]
        assert results[0].status == results[1].status
        assert results[0].cost == results[1].cost


def test_posts_are_keywords_with_parameters() -> None:
    """All-different on values, and a knapsack for each side of a sum that can be missed."""
    posts = global_posts(drawn(0).auxiliaries.statements)
    assert [keyword for _, keyword, _ in posts].count("alldiff") == 1
    assert {keyword for _, keyword, _ in posts} == {"alldiff", "knapsackp"}
    model = Model()
    names = model.add_variables([f"p{i}" for i in range(12)], 11)
    model.all_different(names)
    result = dabp.solve(model.build(), solver="toulbar2", presolve=False, time_limit=20)
    assert result.status is dabp.Status.INFEASIBLE
