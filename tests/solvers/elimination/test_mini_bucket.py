"""Mini-bucket elimination."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.solvers.elimination.mini_bucket import MiniBucketElimination, MiniBucketSearch
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem


@pytest.mark.parametrize("seed", range(40))
def test_exact_on_narrow_problems(seed: int) -> None:
    """Where no bucket is split the answer is the optimum, or infeasibility, and is called so."""
    problem = random_problem(seed)
    result = dabp.solve(problem, "mbe")
    optimum = exhaustive_optimum(problem)
    if optimum is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert result.cost == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_split_buckets_give_bounds(seed: int) -> None:
    """With i-bound 1 or 2 the bound is on its side of the optimum, and the larger i-bound is worth its memory here."""
    problem = random_problem(seed, max_variables=8, maximize=False)
    optimum = exhaustive_optimum(problem)
    for i_bound in (1, 2):
        result = dabp.solve(problem, "mbe", params={"i_bound": i_bound})
        if optimum is not None:
            assert result.status is not Status.INFEASIBLE
            assert result.bound is not None
            assert result.bound <= optimum + 1e-9


def test_a_bound_without_an_assignment() -> None:
    """Four mutually different variables of three values: the greedy reading fails, the bound stays."""
    pairs = list(itertools.combinations(range(4), 2))
    scopes = [*itertools.chain(*pairs), *range(4)]
    problem = Problem(
        [3] * 4,
        scopes,
        [*range(0, 13, 2), *range(13, 17)],
        [*np.where(np.eye(3) == 1, np.inf, 0.0).ravel(), 0.5, 0.7, 0.9],
        [0, 9, 12],
        [0] * 6 + [1] * 4,
    )
    result = dabp.solve(problem, "mbe", params={"i_bound": 1}, presolve=False)
    assert result.cost is None
    assert result.bound is not None
    assert 2.0 <= result.bound < 4.0


def test_memory_cap_lowers_the_i_bound() -> None:
    """Messages hold no more entries than allowed; the i-bound in use is told, and the bound stays valid."""
    problem = dabp.generate("random-cop", variables=12, domain=5, density=0.6, seed=3)
    free = dabp.solve(problem, "mbe")
    tight = dabp.solve(problem, "mbe", params={"max_entries": 2000})
    assert free.status is Status.OPTIMAL
    assert tight.status is not Status.OPTIMAL
    assert "i-bound used 3" in tight.notes[-1]
    assert tight.bound is not None
    assert tight.bound <= free.cost <= tight.cost


def test_message_larger_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message computed in pieces is the message computed at once."""
    problem = dabp.generate("random-cop", variables=9, domain=4, density=0.7, seed=1)
    whole = dabp.solve(problem, "mbe")
    monkeypatch.setattr("dabp.solvers.elimination.mini_bucket.BLOCK_CELLS", 65)
    pieces = dabp.solve(problem, "mbe")
    assert pieces.cost == whole.cost == exhaustive_optimum(problem)
    assert pieces.assignment.tolist() == whole.assignment.tolist()


def test_quick_answer_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long elimination is preceded by a short one, so that a limit finds an answer."""
    monkeypatch.setattr("dabp.solvers.elimination.mini_bucket.QUICK_CELLS", 10)
    problem = dabp.generate("random-cop", variables=10, domain=4, density=0.6, seed=2)
    result = dabp.solve(problem, "mbe", max_iterations=1)
    assert result.status is Status.LIMIT
    assert result.cost is not None
    assert result.bound is not None


def test_long_chain() -> None:
    """Thousands of variables of width 1 with mixed domains are solved exactly: checked by dynamic programming."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, 3000)
    tables = [rng.integers(0, 20, (a, b)).astype(float) for a, b in itertools.pairwise(sizes.tolist())]
    best = np.zeros(sizes[0])
    for table in tables:
        best = (best[:, None] + table).min(axis=0)
    scopes = np.stack([np.arange(2999), np.arange(1, 3000)], axis=1).ravel()
    pool = np.concatenate([table.ravel() for table in tables])
    problem = Problem(sizes, scopes, 2 * np.arange(3000), pool, np.cumsum([0] + [table.size for table in tables]))
    result = dabp.solve(problem, "mbe")
    assert result.status is Status.OPTIMAL
    assert result.cost == best.min()


@pytest.mark.parametrize("wrong", [{"i_bound": 0}, {"max_entries": 0}])
def test_parameters_are_checked(wrong: dict[str, int]) -> None:
    """Impossible parameters are refused in a sentence."""
    with pytest.raises(ParameterError, match="at least 1"):
        MiniBucketElimination(**wrong)


def test_an_i_bound_beyond_the_variables_is_as_many() -> None:
    """However large: no table is planned for buckets that cannot be."""
    problem = dabp.generate("random-cop", variables=6, domain=2, seed=1)
    assert dabp.solve(problem, "mbe", params={"i_bound": 2**40}).cost == exhaustive_optimum(problem)


@pytest.mark.parametrize("seed", range(20))
def test_kept_choices_agree_with_kept_messages(seed: int) -> None:
    """An assignment read back from choices costs what the messages say, whose memory is used again."""
    problem = random_problem(seed, max_variables=9)
    by_choice, by_message = (MiniBucketSearch(problem, 9, 10**6, keep_messages=keep) for keep in (False, True))
    found = []
    for search in (by_choice, by_message):
        steps = [search.step()]
        while steps[-1].finished is None:
            steps.append(search.step())
        found.append((steps[-1].finished, steps[-1].best_cost))
    assert found[0][0] is found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-9)
