"""What a problem is like: counts against the plain definitions, and shapes of tables against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.auto.features import features_of, is_attractive, is_potts, is_repulsive, is_submodular
from tests.problems import random_problem
from tests.solvers.auto.shapes import from_pairs

POTTS = 3.0 * (1.0 - np.eye(4))
TRUNCATED = np.minimum(np.abs(np.subtract.outer(np.arange(4), np.arange(4))), 2.0)
LINEAR = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


@pytest.mark.parametrize(
    ("table", "attractive", "potts", "submodular"),
    [
        (POTTS, True, True, False),
        (TRUNCATED, True, False, False),
        (LINEAR, True, False, True),
        (-POTTS, False, False, False),
        (np.zeros((3, 3)), False, False, True),
        (np.where(np.eye(3), 0.0, np.inf), True, True, False),
        (np.random.default_rng(0).random((4, 4)), False, False, False),
        (POTTS[:2], True, False, False),
        (POTTS[:2, 1:3], True, False, False),
        (np.eye(2), False, False, False),
    ],
)
def test_shapes_of_tables(table: np.ndarray, attractive: bool, potts: bool, submodular: bool) -> None:
    """Potts, truncated linear, linear, repulsive, constant, crisp and random tables."""
    assert (is_attractive(table), is_potts(table), is_submodular(table)) == (attractive, potts, submodular)


def test_colourings_repel() -> None:
    """Any agreement costs more than any disagreement, whatever else differs."""
    noise = np.random.default_rng(1).random((4, 4))
    assert is_repulsive(np.eye(4))
    assert is_repulsive(10.0 * np.eye(4) + noise)
    assert not is_repulsive(0.1 * np.eye(4) + noise)
    assert not is_repulsive(POTTS)
    assert not is_repulsive(np.zeros((3, 3)))
    assert not is_repulsive(np.eye(4)[:2])
    assert is_repulsive(np.stack([np.eye(3), np.zeros((3, 3))])).tolist() == [True, False]


def test_submodularity_is_that_of_all_pairs() -> None:
    """Neighbouring values suffice: checked against the definition over all pairs of values."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        table = rng.integers(0, 3, (3, 4)).astype(float)
        whole = all(
            table[a, b] + table[c, d] <= table[a, d] + table[c, b]
            for a, c in itertools.combinations(range(3), 2)
            for b, d in itertools.combinations(range(4), 2)
        )
        assert is_submodular(table) == whole


def test_counts_follow_the_definitions() -> None:
    """Edges, messages, cells, degrees and domains of problems of mixed arity, one factor at a time."""
    for seed in range(40):
        problem = random_problem(seed, maximize=False)
        scopes = [problem.scope(f) for f in range(problem.num_factors)]
        higher = [scope for scope in scopes if len(scope) >= 2]
        sizes = problem.domain_sizes
        features = features_of(problem)
        assert features.num_edges == sum(map(len, higher))
        assert features.num_messages == sum(int(sizes[scope].sum()) for scope in higher)
        assert features.num_cells == sum(int(np.prod(sizes[scope])) for scope in higher)
        assert features.largest_arity == max(map(len, scopes), default=0)
        assert features.digits == pytest.approx(np.log10(np.prod(sizes.astype(float))))


def test_shares_are_those_of_the_factors() -> None:
    """A third of the tables attractive, costs of max-cut, and nothing crisp; also where only a sample is looked at."""
    tables = itertools.cycle([np.eye(2), -np.eye(2), np.eye(2)])
    features = features_of(from_pairs(31, 2, lambda: next(tables)))
    assert features.attractive == pytest.approx(1 / 3, abs=0.02)
    assert features.unit_costs
    assert features.crisp == 0.0
    assert not features_of(from_pairs(5, 2, lambda: 0.5 * np.eye(2))).unit_costs


def test_a_problem_without_factors_has_features_too() -> None:
    """Nothing is divided by zero."""
    features = features_of(Problem([]))
    assert (features.num_edges, features.attractive, features.unit_costs) == (0, 0.0, False)


def test_tables_are_looked_at_together_as_one_by_one() -> None:
    """Shares over factors, however many use one table, and whatever shapes it has for them."""
    shared = Problem([2, 3, 3, 2], [0, 1, 1, 0, 2, 3], [0, 2, 4, 6], [0, 1, 1, 1, 0, 1], [0, 6], [0, 0, 0])
    for problem in [shared, *(random_problem(seed, maximize=False) for seed in range(60))]:
        found = features_of(problem)
        tables = [factor.table for factor in problem.factors if factor.arity == 2]
        for name, holds in (("attractive", is_attractive), ("potts", is_potts), ("submodular", is_submodular)):
            assert getattr(found, name) == pytest.approx(np.mean([holds(table) for table in tables]) if tables else 0)
        assert found.crisp == pytest.approx(np.mean([np.isinf(table).any() for table in tables]) if tables else 0)
        narrow = all(table.max() <= table.min() + 2 for table in tables)
        assert found.unit_costs == (bool(tables) and problem.facts.integral and narrow)


@pytest.mark.parametrize("table", [POTTS, LINEAR, np.random.default_rng(0).random((4, 4))])
def test_large_tables_are_seen_by_some_of_their_values(table: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds of all values holds of three of them, spread over the domain; and no more are copied."""
    whole = features_of(from_pairs(2, 4, lambda: table))
    monkeypatch.setattr("dabp.solvers.auto.features.SAMPLED_VALUES", 3)
    part = features_of(from_pairs(2, 4, lambda: table))
    assert (part.attractive, part.potts, part.submodular) == (whole.attractive, whole.potts, whole.submodular)
    assert part.num_cells == whole.num_cells


def test_values_that_presolve_removed_do_not_hide_what_tables_favour() -> None:
    """Among tables of mixed shapes those between whole domains tell, if there are enough of them."""
    rng = np.random.default_rng(0)
    whole = rng.integers(1, 30, (5, 5)) * (1.0 - np.eye(5))
    sizes = np.where(np.arange(60) % 3 == 0, 3, 5)
    tables = [whole[:first, -second:] for first, second in itertools.pairwise(sizes.tolist())]
    problem = Problem(
        sizes,
        np.stack([np.arange(59), np.arange(1, 60)], axis=1).ravel(),
        2 * np.arange(60),
        np.concatenate([table.ravel() for table in tables]),
        np.cumsum([0, *(table.size for table in tables)]),
    )
    assert features_of(problem).attractive == 1.0
    few = problem.replace(
        domain_sizes=sizes[:6],
        scope_variables=problem.scope_variables[:10],
        scope_offsets=problem.scope_offsets[:6],
        factor_table=np.arange(5),
    )
    assert features_of(few).attractive < 0.5
