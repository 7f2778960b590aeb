"""Relaxed solves: the fewest or cheapest violations, against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.model import Model
from tests.infeasible import amounts_of, broken_names, infeasible_problem
from tests.problems import random_problem


def finite_cost(problem: Problem, row: np.ndarray) -> float:
    costs = problem.factor_costs(row)
    return float(costs[np.isfinite(costs)].sum() + problem.constant)


@pytest.mark.parametrize("way", ["amount", "count", "prices"])
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_violations_are_the_fewest_or_cheapest(first: int, way: str) -> None:
    """On a hundred infeasible problems: their amount, number or price, then the cost, are the least of all."""
    for seed in range(first, first + 10):
        problem = infeasible_problem(seed)
        rng = np.random.default_rng(seed)
        rows, broken = broken_names(problem)
        names = sorted(frozenset.union(*broken))
        prices = (
            {name: float(rng.choice([0.5, 1, 2, 3.25])) for name in names if rng.random() < 0.7}
            if way == "prices"
            else {}
        )
        result = dabp.solve(problem, relax=prices if way == "prices" else way, time_limit=60)
        amounts = [dict.fromkeys(each, 1.0) for each in broken] if way == "count" else amounts_of(rows, broken)
        spent = [sum(prices.get(name, 1.0) * amount for name, amount in each.items()) for each in amounts]
        assert result.status is dabp.Status.OPTIMAL
        assert result.violated is not None
        assert not result.feasible
        costs = [finite_cost(problem, row) for row, price in zip(rows, spent, strict=True) if price == min(spent)]
        assert result.cost == pytest.approx(max(costs) if problem.maximize else min(costs))
        at = [i for i, row in enumerate(rows) if np.array_equal(row, result.assignment)]
        assert broken[at[0]] == set(result.violated)
        assert spent[at[0]] == min(spent)
        assert result.cost == pytest.approx(finite_cost(problem, result.assignment))
        assert result.bound == result.cost


@pytest.mark.parametrize("seed", range(12))
def test_what_is_feasible_is_solved_as_ever(seed: int) -> None:
    """Nothing is violated, and cost and bound are those of the plain solve."""
    problem = random_problem(seed, max_variables=5)
    plain, relaxed = dabp.solve(problem, time_limit=60), dabp.solve(problem, relax=True, time_limit=60)
    assert relaxed.status is dabp.Status.OPTIMAL
    if plain.feasible:
        assert relaxed.violated == ()
        assert relaxed.feasible
        assert relaxed.cost == pytest.approx(plain.cost)
        assert relaxed.bound == pytest.approx(plain.bound)
    else:
        assert relaxed.violated


def test_a_statement_counts_once() -> None:
    """However many of its factors are violated; its note names it, and infinite prices keep others hard."""
    model = Model()
    names = model.add_variables("abcd", ["x", "y"])
    model.all_different(names, name="apart")
    model.exactly(names, "x", 4, name="all x")
    result = dabp.solve(model, relax="count", time_limit=60)
    assert result.violated == ("apart",)
    assert any("1 of 2 hard constraints is violated, the fewest there can be: apart" in note for note in result.notes)
    assert result.to_dict(model.build())["violated"] == ["apart"]
    kept = dabp.solve(model, relax={"all x": np.inf, "apart": 0.25}, time_limit=60)
    assert kept.violated == ("apart",)
    assert any("at a price of 0.25, the least there can be: apart" in note for note in kept.notes)
    other = dabp.solve(model, relax={"apart": np.inf}, time_limit=60)
    assert other.status is dabp.Status.INFEASIBLE
    assert other.assignment is None


def test_amounts_add_up() -> None:
    """A statement that is missed by three counts three times, and the note says by how much each one is missed."""
    model = Model()
    days = model.add_variables((f"day{i}" for i in range(9)), ["on", "off"])
    model.at_least(days, "on", 7, name="need")
    model.at_most(days[:5], "on", 1, name="first half")
    model.add_cost(days[8], {"on": 0.5, "off": 0.0})
    result = dabp.solve(model, relax=True, time_limit=60)
    assert (result.status, result.cost) == (dabp.Status.OPTIMAL, 0.5)
    assert "violated, by 2 in all, the least there can be" in result.notes[-1]
    prices = dabp.solve(model, relax={"need": 1, "first half": 1.5}, time_limit=60)
    assert prices.violated == ("need",)
    assert "at a price of 2, the least there can be: need (2)" in prices.notes[-1]


def test_starts_and_fixed_values_go_with_it() -> None:
    """By the user's names, in the user's variables."""
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(12)), 2)
    model.exactly(names, 1, 6, name="half")
    model.exactly(names, 1, 3, name="quarter")
    model.forbid("x0", [1], name="first")
    seen = []
    result = dabp.solve(
        model,
        relax={"first": 5},
        fix={"x0": 1},
        initial=dict.fromkeys(names, 1),
        time_limit=60,
        callbacks=[lambda progress: seen.append(progress.assignment) and None],
    )
    assert result.violated is not None
    assert set(result.violated) in ({"first", "half"}, {"first", "quarter"})
    assert result.values is not None
    assert list(result.values) == names
    assert result.values["x0"] == 1
    assert all(each is None or len(each) == 12 for each in seen)


@pytest.mark.parametrize(
    ("relax", "words"),
    [
        ({"nobody": 1}, "no hard constraint 'nobody'; there are first"),
        ({"frist": 1}, "did you mean 'first'"),
        ({"first": 0}, "a number above 0, not 0"),
        ({"first": "x"}, "a number above 0, not 'x'"),
        ("first", "relax is true, 'amount', 'count', or prices"),
    ],
)
def test_wrong_prices_are_told(relax: object, words: str) -> None:
    """In one sentence each."""
    model = Model()
    model.add_variable("a", 2)
    model.forbid("a", [1, 0], name="first")
    with pytest.raises(ParameterError, match=words):
        dabp.solve(model, relax=relax)  # type: ignore[arg-type]


@pytest.mark.parametrize("cells", [1000, 2**24])
def test_amounts_that_take_too_much_memory_are_said_not_to_count(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them an answer may violate a sum by however much, whatever was asked for."""
    monkeypatch.setattr("dabp.problem.relaxation.MOST_CELLS", cells)
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(8)], 5)
    model.linear(dict.fromkeys(names, 3), "<=", 50)
    model.linear(dict.fromkeys(names, 3), ">=", 60)
    result = dabp.solve(model, relax=True, time_limit=5, threads=1)
    assert any("counts once" in note for note in result.notes) == (cells == 1000)
