"""Which variables must all differ."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from dabp import solve
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.solvers.local_costs.exchanges import labelled_cliques
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.permutations import permutation_problem


@pytest.mark.parametrize("seed", range(20))
def test_labels_are_what_excludes(seed: int) -> None:
    """Two values of two members have one label exactly where a factor forbids them together."""
    problem = permutation_problem(seed)
    (clique,) = labelled_cliques(problem)
    assert clique.members.tolist() == list(range(len(clique.members)))
    assert len(clique.members) >= 6
    for factor in range(problem.num_factors):
        scope = problem.scope(factor).tolist()
        if len(scope) < 2 or max(scope) >= len(clique.members) or not np.isinf(problem.table(factor)).any():
            continue
        for x, y in itertools.product(*(range(problem.domain_sizes[v]) for v in scope)):
            same = np.flatnonzero(clique.value[scope[0]] == x) == np.flatnonzero(clique.value[scope[1]] == y)
            assert bool(same.all()) == np.isinf(problem.table(factor)[x, y])


@pytest.mark.parametrize("seed", range(20))
def test_arranged_assignments_differ(seed: int) -> None:
    """Members of a set with enough values get different ones, and an assignment that is in order stays."""
    problem = permutation_problem(seed)
    local, rng = LocalCosts(problem), np.random.default_rng(seed)
    assert local.sets is not None
    for _ in range(10):
        given = local.random_assignment(rng)
        arranged = local.arranged(given)
        labels = local.sets.label[local.costs.rows.start + arranged][local.sets.of >= 0]
        if local.sets.only.any():
            assert sorted(labels.tolist()) == list(range(len(labels)))
        assert (arranged[local.sets.of < 0] == given[local.sets.of < 0]).all()
        assert (local.arranged(arranged) == arranged).all()


def test_only_what_can_do_nothing_else_exchanges_only() -> None:
    """With a value to spare, a value forbidden by itself or another hard constraint, variables move alone, too."""
    full = Model()
    xs = [full.add_variable(f"x{i}", range(6)) for i in range(6)]
    full.all_different(xs)
    assert _only(full) == 6
    full.add_cost([xs[0]], [0, 0, np.inf, 0, 0, 0])
    assert _only(full) == 0
    spare = Model()
    spare.all_different([spare.add_variable(f"x{i}", range(7)) for i in range(6)])
    assert _only(spare) == 0
    square = Model()
    cells = [[square.add_variable(f"x{r}{c}", range(6)) for c in range(6)] for r in range(6)]
    for k in range(6):
        square.all_different(cells[k])
        square.all_different([row[k] for row in cells])
    assert _only(square) == 0


def _only(model: Model) -> int:
    sets = LocalCosts(model.build()).sets
    assert sets is not None
    return int(sets.only.sum())


def test_others_are_left_alone() -> None:
    """Neither colours that are scarce, nor distances, nor members of wide factors are sets."""
    clash = np.where(np.eye(5), np.inf, 0.0)
    ring = Problem.from_tables([5] * 9, [((i, (i + 1) % 9), clash) for i in range(9)])
    assert LocalCosts(ring).sets is None
    apart = np.where(np.abs(np.subtract.outer(np.arange(9), np.arange(9))) < 2, np.inf, 0.0)
    pairs = [(i, j) for i in range(5) for j in range(i)]
    assert LocalCosts(Problem.from_tables([9] * 5, [(pair, apart) for pair in pairs])).sets is None
    wide = [((0, 1, 2), np.zeros((5, 5, 5)))]
    assert LocalCosts(Problem.from_tables([5] * 5, [*((pair, clash) for pair in pairs), *wide])).sets is None


def test_annealing_finds_the_best_assignment() -> None:
    """On assignments of tasks to places annealing ends at the optimum of the Hungarian method."""
    costs = np.random.default_rng(4).integers(0, 100, (12, 12)).astype(float)
    model = Model()
    tasks = [model.add_variable(f"task{i}", range(12)) for i in range(12)]
    for task, row in zip(tasks, costs, strict=True):
        model.add_cost([task], row)
    model.all_different(tasks)
    best = costs[linear_sum_assignment(costs)].sum()
    result = solve(model, "annealing", max_iterations=20_000, seed=1)
    assert result.cost == best
