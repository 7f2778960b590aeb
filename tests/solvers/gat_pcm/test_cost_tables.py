"""A problem as the search sees it."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem.guard import Guard
from dabp.solvers.gat_pcm import cost_tables as structures
from dabp.solvers.gat_pcm.cost_tables import structure
from dabp.solvers.status import Status
from dabp.solvers.stopped import Stopped
from tests.lab.cost_model.trees import pairwise
from tests.problems import random_problem


def test_real_costs_are_rounded_for_the_model_only() -> None:
    """More different costs than the model tells apart are rounded evenly; what they cost stays exact."""
    rng = np.random.default_rng(0)
    problem = pairwise(rng, n=12, domain=20, extra=10)
    problem = problem.replace(pool=problem.pool + rng.random(len(problem.pool)))
    arrays = structure(problem)
    steps = len(arrays.level_amount)
    assert steps < len(np.unique(problem.pool))
    assert np.abs(arrays.level_amount[arrays.level] - arrays.amount).max() < 1.01 / steps
    assert np.array_equal(np.sort(arrays.penalised), np.sort(problem.pool))


@pytest.mark.parametrize("seed", range(30))
def test_costs_are_the_problems(seed: int) -> None:
    """Unary, pairwise (in either order, several on one pair) and wider costs add up to the cost of an assignment."""
    problem = random_problem(seed, maximize=False)
    arrays = structure(problem)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        x = rng.integers(0, problem.domain_sizes)
        if np.isinf(problem.cost(x)):
            continue
        total = arrays.unary_penalised[arrays.first_value[:-1] + x].sum()
        for v in range(problem.num_variables):
            for e in range(arrays.begin[v], arrays.begin[v + 1]):
                w = arrays.neighbour[e]
                cell = arrays.neighbour_base[e] + x[v] * arrays.neighbour_own[e] + x[w] * arrays.neighbour_other[e]
                total += arrays.penalised[cell] / 2
        for k, base in enumerate(arrays.wide_base):
            scope = slice(arrays.wide_scope_begin[k], arrays.wide_scope_begin[k + 1])
            total += arrays.wide_penalised[base + (x[arrays.wide_variable[scope]] * arrays.wide_stride[scope]).sum()]
        constants = sum(float(problem.table(f)) for f in range(problem.num_factors) if problem.arities[f] == 0)
        assert total + problem.constant + constants == pytest.approx(problem.cost(x), abs=1e-9)


@pytest.mark.parametrize("levels", [4096, 5])
@pytest.mark.parametrize("seed", range(4))
def test_blocks_change_nothing(seed: int, levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few cells are worked on at a time, also where costs are rounded to few levels."""
    problem = random_problem(seed, maximize=False)
    monkeypatch.setattr(structures, "MAX_LEVELS", levels)
    whole = structure(problem)
    monkeypatch.setattr(structures, "BLOCK_CELLS", 5)
    for name, array in structure(problem)._asdict().items():
        assert np.array_equal(array, getattr(whole, name)), name


def test_the_guard_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the midst of the tables, and a solve that could not be prepared still has an answer, and says why."""
    problem = random_problem(3, maximize=False)
    asked = iter([False, False, False])
    monkeypatch.setattr(structures, "BLOCK_CELLS", 5)
    with pytest.raises(Stopped):
        structure(problem, guard=Guard(interrupted=lambda: next(asked, True)))
    monkeypatch.setattr("dabp.solvers.gat_pcm.search.structure", _never)
    result = dabp.solve(problem, "gat-pcm-lns", presolve=False, max_iterations=5)
    assert result.status is Status.LIMIT
    assert any("was not prepared" in note for note in result.notes)


def _never(*_: object) -> None:
    raise Stopped("time limit")
