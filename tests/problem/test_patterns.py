"""Statements about patterns, permutations, maxima and tasks, against what they say, on every assignment."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.errors import ProblemError
from dabp.problem.model import Model
from tests.problems import all_assignments

LABELS = ("day", "night", "off")
Rng = np.random.Generator


def regular(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    rest = {("fresh", one): "tired" if one == "night" else "fresh" for one in LABELS} | {("tired", "off"): "fresh"}
    model.regular(names, rest, "fresh", ["fresh", "tired"], price=price)

    def accepted(word: tuple[Any, ...]) -> bool:
        return all(b == "off" for a, b in itertools.pairwise(word) if a == "night")

    words = [word for word in itertools.product(LABELS, repeat=len(names)) if accepted(word)]

    def violation(row: list[Any]) -> float:
        changes = min(sum(a != b for a, b in zip(row, word, strict=True)) for word in words)
        return changes if price is not None else float(changes > 0)

    return violation


def gcc(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    model.gcc(names, {"night": 1, "day": (1, 2)}, price=price)
    return lambda row: abs(row.count("night") - 1) + max(0, 1 - row.count("day"), row.count("day") - 2)


def among(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    model.among(names, ["day", "night"], 1, 2, measure="square", price=price)

    def violation(row: list[Any]) -> float:
        count = sum(one != "off" for one in row)
        return max(0, 1 - count, count - 2) ** 2

    return violation


def same(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    half = len(names) // 2
    model.same(names[:half], names[half : 2 * half], price=price)
    return lambda row: (Counter(row[:half]) - Counter(row[half : 2 * half])).total()


def max_of(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    costs = [dict(zip(LABELS, rng.integers(-1, 9, 3).tolist(), strict=True)) for _ in names]
    model.max_of(dict(zip(names, costs, strict=True)), price=1.0 if price is None else price)
    return lambda row: max(0, *(own[one] for own, one in zip(costs, row, strict=True)))


def knapsack(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    model.knapsack({name: {"day": 1.5, "night": 2} for name in names}, 4, price=price)
    return lambda row: max(0.0, 1.5 * row.count("day") + 2 * row.count("night") - 4)


def clique(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    model.clique({name: "off" if number else ["off", "day"] for number, name in enumerate(names)}, price=price)
    return lambda row: math.comb((row[0] != "night") + row[1:].count("off"), 2)


def all_different(model: Model, names: list[str], rng: Rng, price: float | None) -> Callable[[list[Any]], float]:
    model.all_different(names, excepted="off", measure="variables", price=price)
    return lambda row: sum(max(0, row.count(one) - 1) for one in ("day", "night"))


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("stated", [regular, gcc, among, same, max_of, knapsack, clique, all_different])
@pytest.mark.parametrize("price", [None, 2.5])
def test_statements_mean_what_they_say(stated: Any, price: float | None, maximize: bool) -> None:
    """Violations times the price, or forbidden, make the total of every assignment worse."""
    for count in (2, 4, 7):
        model = Model(maximize=maximize)
        names = model.add_variables([f"v{i}" for i in range(count)], LABELS)
        violation = stated(model, names, np.random.default_rng(count), price)
        problem = model.build()
        weight = price or (1.0 if stated is max_of else math.inf)
        rows = all_assignments(labelled(count).build())
        found = problem.cost(problem.auxiliaries.completed(rows))
        off = [violation([LABELS[value] for value in row]) for row in rows.tolist()]
        expected = np.array([weight * one if one else 0.0 for one in off])
        assert np.allclose(found, -expected if maximize else expected)


def labelled(count: int) -> Model:
    model = Model()
    model.add_variables([f"v{i}" for i in range(count)], LABELS)
    return model


def test_tasks_do_not_overlap() -> None:
    """Starts and durations with decimals; each pair that overlaps costs the price."""
    model = Model()
    model.add_variable("a", [0, 0.5, 1, 2])
    model.add_variable("b", range(4))
    model.disjunctive({"a": 1.5, "b": 1}, price=3)
    problem = model.build()
    for a, b in itertools.product([0, 0.5, 1, 2], range(4)):
        assert problem.cost({"a": a, "b": b}) == (0 if a + 1.5 <= b or b + 1 <= a else 3)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda m: m.regular(["v0"], [("a", "day")], "a", ["a"]), r"transitions are \{\(state, label\): state\}"),
        (lambda m: m.regular(["v0"], {("a", "x"): "a"}, "a", ["a"]), "none of .* has a value 'x'"),
        (lambda m: m.gcc(["v0"], {"day": (2, 1)}), "occurs a whole number of times, from a least to a most"),
        (lambda m: m.gcc(["v0"], {"day": 1}, measure="edits", price=1), "has the measures amount, variables"),
        (lambda m: m.same(["v0"], ["v1", "v2"]), "two lists of equally many variables, not 1 and 2"),
        (lambda m: m.max_of({"v0": 3}), "max_of takes costs by variable and label"),
        (lambda m: m.knapsack({"v0": 3}, 2), "each value of 'v0' is a finite number, not 'day'"),
        (lambda m: m.max_of({"v0": {"day": math.nan}}), "the weight of 'day' in max_of is a number, not nan"),
        (
            lambda m: m.regular(["v0"], [("a", "day", "a")], ["a"], ["a"]),
            r"transitions are \{\(state, label\): state\}",
        ),
        (lambda m: m.gcc(["v0"], {"day": 10**30}), "'day' occurs less than 2\\^53 times"),
        (lambda m: m.clique(["v0"]), "clique takes a value, or several, by variable"),
        (lambda m: m.disjunctive({"v0": -1}), "is a finite number|at least 0"),
    ],
)
def test_mistakes_are_told(action: Callable[[Model], None], words: str) -> None:
    """Each in a sentence that says what is expected."""
    with pytest.raises(ProblemError, match=words):
        action(labelled(3))


@pytest.mark.parametrize("maximize", [False, True])
def test_statements_about_nothing(maximize: bool) -> None:
    """Definitions hold over no variables, for labels that no variable has and bounds beyond all counts."""
    model = Model(maximize=maximize)
    model.add_variable("v", LABELS)
    model.all_different([], excepted="x")
    model.gcc([], {"x": (0, 10**30)})
    model.gcc(["v"], {LABELS[0]: (-(10**30), 10**30)})
    model.regular([], [(0, "x", 1)], 0, [0])
    model.gcc([], {"x": 2}, price=1)
    problem = model.build()
    assert set(problem.cost(np.arange(len(LABELS))[:, None])) == {-2.0 if maximize else 2.0}
    assert dabp.solve(model, "toulbar2", time_limit=5).cost == (-2.0 if maximize else 2.0)
