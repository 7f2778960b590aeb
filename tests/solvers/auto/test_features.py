"""What a problem is like: counts against the plain definitions, and shapes of tables against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.auto.features import features_of, is_attractive, is_repulsive, kind_of
from tests.permutations import permutation_problem
from tests.problems import random_problem
from tests.solvers.auto.shapes import from_pairs

POTTS = 3.0 * (1.0 - np.eye(4))
TRUNCATED = np.minimum(np.abs(np.subtract.outer(np.arange(4), np.arange(4))), 2.0)
LINEAR = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


@pytest.mark.parametrize(
    ("table", "attractive"),
    [
        (POTTS, True),
        (TRUNCATED, True),
        (LINEAR, True),
        (-POTTS, False),
        (np.zeros((3, 3)), False),
        (np.where(np.eye(3), 0.0, np.inf), True),
        (np.random.default_rng(0).random((4, 4)), False),
        (POTTS[:2], True),
        (POTTS[:2, 1:3], True),
        (np.eye(2), False),
    ],
)
def test_tables_that_favour_agreement(table: np.ndarray, attractive: bool) -> None:
    """Potts, truncated linear, linear, repulsive, constant, crisp and random tables, and parts of Potts tables."""
    assert is_attractive(table) == attractive


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


def test_shares_are_those_of_the_factors() -> None:
    """A third of the tables attractive and nothing crisp; also where only a sample is looked at."""
    tables = itertools.cycle([np.eye(2), -np.eye(2), np.eye(2)])
    features = features_of(from_pairs(31, 2, lambda: next(tables)))
    assert features.attractive == pytest.approx(1 / 3, abs=0.02)
    assert features.crisp == 0.0


def test_a_problem_without_factors_has_features_too() -> None:
    """Nothing is divided by zero."""
    features = features_of(Problem([]))
    assert (features.num_edges, features.attractive) == (0, 0.0)


def test_tables_are_looked_at_together_as_one_by_one() -> None:
    """Shares over factors, however many use one table, and whatever shapes it has for them."""
    shared = Problem([2, 3, 3, 2], [0, 1, 1, 0, 2, 3], [0, 2, 4, 6], [0, 1, 1, 1, 0, 1], [0, 6], [0, 0, 0])
    for problem in [shared, *(random_problem(seed, maximize=False) for seed in range(60))]:
        found = features_of(problem)
        tables = [factor.table for factor in problem.factors if factor.arity == 2]
        for name, holds in (("attractive", is_attractive), ("repulsive", is_repulsive)):
            assert getattr(found, name) == pytest.approx(np.mean([holds(table) for table in tables]) if tables else 0)
        assert found.crisp == pytest.approx(np.mean([np.isinf(table).any() for table in tables]) if tables else 0)


@pytest.mark.parametrize("table", [POTTS, LINEAR, np.random.default_rng(0).random((4, 4))])
def test_large_tables_are_seen_by_some_of_their_values(table: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds of all values holds of three of them, spread over the domain; and no more are copied."""
    whole = features_of(from_pairs(2, 4, lambda: table))
    monkeypatch.setattr("dabp.solvers.auto.features.SAMPLED_VALUES", 3)
    part = features_of(from_pairs(2, 4, lambda: table))
    assert (part.attractive, part.repulsive) == (whole.attractive, whole.repulsive)
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


def test_kinds_of_problems() -> None:
    """Problems of each kind are recognised, by their tables and not by their size alone, and the reason says why."""
    rng = np.random.default_rng(0)
    problems = {
        "image": from_pairs(25, 4, lambda: rng.integers(1, 9) * (1.0 - np.eye(4))),
        "large": from_pairs(25, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)),
        "binary": from_pairs(25, 2, lambda: rng.choice([-1.0, 1.0]) * np.eye(2)),
        "medium": from_pairs(15, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)),
        "small": from_pairs(10, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)),
        "permutation": permutation_problem(2),
    }
    independent = from_pairs(25, 2, lambda: np.array([[0.0, 0.0], [0.0, np.inf]]))
    assert kind_of(features_of(independent))[0] == "large"  # two values, but BP is better around what is forbidden
    for expected, problem in problems.items():
        found, reason = kind_of(features_of(problem))
        assert found == expected
        assert reason
