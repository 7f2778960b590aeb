"""Each statement of a model, against what it says, on every assignment of random small models."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.errors import ProblemError
from dabp.problem import Problem, sums
from dabp.problem.model import Model
from dabp.problem.sums import SMALL_CELLS
from dabp.problem.vocabulary import listed, price_of
from tests.problems import all_assignments

CASES = 200
Statement = Callable[[Model, np.random.Generator], Callable[[dict[str, Any]], float]]

NUMBERS = [(0, 1), (0, 1, 2), (-1, 0.5, 2), (True, False), (3, -2, 1.25, 0), (0.1, 0.2, 0.3), (5,)]
ANY = [*NUMBERS, ("a", "b"), ("a", 1, 2.5), ("b", True, 0), ("x", "y", "z", "a")]


def drawn_model(rng: np.random.Generator, rows: list[tuple[Any, ...]], largest: int = 160) -> Model:
    """Variables with labels of these rows; few different rows and many variables half of the time."""
    model = Model(maximize=bool(rng.random() < 0.5))
    count, chosen = int(rng.integers(1, 8)), [rows[k] for k in rng.choice(len(rows), 2 if rng.random() < 0.5 else 4)]
    total = 1
    for number in range(count):
        labels = chosen[rng.integers(len(chosen))]
        total *= len(labels)
        if total > largest:
            break
        model.add_variable(f"v{number}", labels)
    return model


def variables(model: Model) -> list[str]:
    return list(model.build().names.variables)


def drawn_scope(model: Model, rng: np.random.Generator, least: int = 0) -> list[str]:
    names = variables(model)
    if rng.random() < 0.6:
        return names
    return [str(one) for one in rng.permutation(names)[: rng.integers(min(least, len(names)), len(names) + 1)]]


def labels_of(model: Model, name: str) -> tuple[Any, ...]:
    problem = model.build()
    return problem.names.labels(problem.names.variable_index(name))


def drawn_price(rng: np.random.Generator) -> float | None:
    return None if rng.random() < 0.5 else float(rng.choice([0.0, 1.0, 2.5, 0.1, 7]))


def worth(price: float | None) -> float:
    return math.inf if price is None else price


def all_different(model: Model, rng: np.random.Generator) -> Callable[[dict[str, Any]], float]:
    scope, price = drawn_scope(model, rng), drawn_price(rng)
    model.all_different(scope, price=price)

    def cost(values: dict[str, Any]) -> float:
        equal = sum(values[a] == values[b] for a, b in itertools.combinations(scope, 2))
        return worth(price) * equal if equal else 0.0

    return cost


def counted(model: Model, rng: np.random.Generator) -> Callable[[dict[str, Any]], float]:
    scope, price = drawn_scope(model, rng, 1), drawn_price(rng)
    kind = str(rng.choice(["at_most", "at_least", "exactly"]))
    there = list({str(label): label for name in scope for label in labels_of(model, name)}.values())
    values = [there[k] for k in rng.permutation(len(there))[: rng.integers(1, 3)]]
    count = int(rng.integers(0, len(scope) + 2))
    getattr(model, kind)(scope, values[0] if len(values) == 1 else values, count, price=price)

    def cost(assignment: dict[str, Any]) -> float:
        exactly_these = {(type(one), one) for one in values}
        found = 0
        for name in scope:
            own = {(type(one), one) for one in labels_of_name[name]}
            mine = assignment[name]
            if (type(mine), mine) in exactly_these or any(
                mine == one and (type(one), one) not in own for one in values
            ):
                found += 1
        off = {"at_most": found - count, "at_least": count - found, "exactly": abs(found - count)}[kind]
        return 0.0 if off <= 0 else worth(price) * off if price != 0 else 0.0

    labels_of_name = {name: labels_of(model, name) for name in scope}
    return cost


def linear(model: Model, rng: np.random.Generator) -> Callable[[dict[str, Any]], float]:
    scope, price = drawn_scope(model, rng), drawn_price(rng)
    weights = {name: rng.choice([1, 1, 2, -1, 0, 3, 0.5, -0.1, 1.3]).item() for name in scope}
    plain = rng.random() < 0.3
    if plain:
        weights = dict.fromkeys(scope, 1)
    relation = str(rng.choice(["<=", "==", ">=", "=", "≤", "≥"]))
    bound = rng.choice([0, 1, 2, 3, -1, 0.5, 1.3, 4.75]).item()
    model.linear(scope if plain else weights, relation, bound, price=price)

    def cost(values: dict[str, Any]) -> float:
        total = sum(Fraction(str(w)) * Fraction(str(float(values[name]))) for name, w in weights.items())
        off = total - Fraction(str(bound))
        off = {"<": max(off, Fraction(0)), "≤": max(off, Fraction(0)), "=": abs(off)}.get(
            relation[0], max(-off, Fraction(0))
        )
        return 0.0 if not off else math.inf if price is None else float(Fraction(str(price)) * off)

    return cost


def implies(model: Model, rng: np.random.Generator) -> Callable[[dict[str, Any]], float]:
    price = drawn_price(rng)

    def drawn() -> dict[str, list[Any]]:
        result = {}
        for name in drawn_scope(model, rng):
            labels = labels_of(model, name)
            result[name] = [labels[k] for k in rng.permutation(len(labels))[: rng.integers(1, 3)]]
        return result

    condition, consequence = drawn(), drawn()
    model.implies(
        {name: allowed[0] if len(allowed) == 1 else allowed for name, allowed in condition.items()},
        {name: tuple(allowed) for name, allowed in consequence.items()},
        price=price,
    )

    def holds(values: dict[str, Any], what: dict[str, list[Any]]) -> bool:
        return all((type(values[n]), values[n]) in {(type(x), x) for x in allowed} for n, allowed in what.items())

    return lambda values: worth(price) if holds(values, condition) and not holds(values, consequence) else 0.0


def element(model: Model, rng: np.random.Generator) -> Callable[[dict[str, Any]], float]:
    price, names = drawn_price(rng), variables(model)
    model.add_variable("index", [int(k) for k in rng.permutation(5)[: rng.integers(1, 4)]])
    value = str(rng.choice([*names, "index"] if rng.random() < 0.2 else names))
    pool = [*names, 2, 0.5, True, *labels_of(model, value), *(["index"] if rng.random() < 0.2 else [])]
    array = [pool[k] for k in rng.integers(0, len(pool), rng.integers(0, 5))]
    model.element("index", array, value, price=price)

    def cost(values: dict[str, Any]) -> float:
        place = values["index"]
        right = False
        if place < len(array):
            entry = array[place]
            is_name = isinstance(entry, str) and entry in values
            right = (values[entry] if is_name else entry) == values[value]
        return 0.0 if right else worth(price)

    return cost


def tables(model: Model, rng: np.random.Generator) -> Callable[[dict[str, Any]], float]:
    scope, price, kind = drawn_scope(model, rng, 1)[:3], drawn_price(rng), str(rng.choice(["allow", "forbid"]))
    rows = list(itertools.product(*(labels_of(model, name) for name in scope)))
    chosen = [rows[k] for k in np.flatnonzero(rng.random(len(rows)) < 0.4)]
    exact = {tuple((type(x), x) for x in row) for row in chosen}

    def test(*labels: Any) -> bool:
        return tuple((type(x), x) for x in labels) in exact

    getattr(model, kind)(scope, test if rng.random() < 0.5 else chosen, price=price)

    def cost(values: dict[str, Any]) -> float:
        return worth(price) if test(*(values[name] for name in scope)) == (kind == "forbid") else 0.0

    return cost


STATEMENTS = {
    "all_different": (all_different, ANY),
    "counts": (counted, ANY),
    "linear": (linear, NUMBERS),
    "implies": (implies, ANY),
    "element": (element, ANY),
    "allow and forbid": (tables, ANY),
}


@pytest.mark.parametrize("kind", STATEMENTS)
def test_statements_mean_what_they_say(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every assignment costs what the statement says, in either direction; so do the best of all completions."""
    state, rows = STATEMENTS[kind]
    hidden = 0
    for case in range(CASES):
        if case == CASES // 2:  # from here on chains are made of what would be one table
            monkeypatch.setattr(sums, "SMALL_CELLS", 1)
            monkeypatch.setattr(sums, "WIDE_VALUES", 3)
            monkeypatch.setattr(sums, "VALUES_PER_CLASS", 1)
        rng = np.random.default_rng(case)
        model = drawn_model(rng, rows)
        cost_of = state(model, rng)
        problem = model.build()
        hidden += problem.auxiliaries.count
        sign = -1 if problem.maximize else 1
        every = all_assignments(Problem(problem.auxiliaries.visible(problem.domain_sizes)))
        said = np.array([sign * cost_of(problem.names.labelled(row)) for row in every])
        np.testing.assert_allclose(problem.cost(every), said, rtol=1e-12, atol=1e-12, err_msg=f"{kind} {case}")
        if problem.auxiliaries.count and math.prod(problem.domain_sizes.tolist()) <= 8_000:
            whole = all_assignments(problem)
            costs = sign * problem.cost(whole)
            key = whole[:, : problem.auxiliaries.num_visible] @ np.cumprod(
                [1, *problem.domain_sizes[: problem.auxiliaries.num_visible - 1]]
            )
            best = np.full(key.max() + 1, np.inf)
            np.minimum.at(best, key, costs)
            own = every @ np.cumprod([1, *problem.domain_sizes[: problem.auxiliaries.num_visible - 1]])
            np.testing.assert_allclose(best[own], sign * said, rtol=1e-12, atol=1e-12)
    assert hidden > 0 or kind in ("all_different", "element", "allow and forbid")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda m: m.linear(["t"], "<=", 3), "each value of 't' is a finite number, not 'x'"),
        (lambda m: m.linear(["a", "a"], "<=", 3), "twice"),
        (lambda m: m.linear({"a": math.nan}, "<=", 3), "coefficient of 'a' is a finite number, not nan"),
        (lambda m: m.linear({"a": 1}, "<=", math.inf), "bound of a linear sum is a finite number, not inf"),
        (lambda m: m.linear({"a": 1}, "<", 3), "<=, ==, != or >= its bound, not '<'"),
        (lambda m: m.linear({"a": 1}, "<=", 3, price=-1), "a price is a number of at least 0, not -1"),
        (lambda m: m.linear({"a": 10**19}, "<=", 3), "too large"),
        (lambda m: m.at_most(["a", "t"], "q", 1), "has a value 'q'"),
        (lambda m: m.at_most(["a", "a"], 1, 1), "twice"),
        (lambda m: m.at_most(["a"], 1, "two"), "count of at_most is a finite number"),
        (lambda m: m.all_different(["a", "zz"]), "no variable 'zz'"),
        (lambda m: m.all_different(5), "a scope is the name"),
        (lambda m: m.implies(["a"], {"t": "x"}), "values by variable on both sides"),
        (lambda m: m.implies({"a": 9}, {"t": "x"}), "has a value 9"),
        (lambda m: m.element("t", [1, 2], "a"), "'t' chooses a place of an array: its values are integers, not 'x'"),
        (lambda m: m.element("a", ["b", "tpyo"], "t"), "'tpyo' of an array is neither a variable nor a value of 't'"),
        (lambda m: m.forbid("a", [1], price=-2), "a price is a number of at least 0, not -2"),
        (lambda m: m.allow("a", 5), "list of label tuples or a function"),
    ],
)
def test_mistakes_are_told(action: Callable[[Model], None], words: str) -> None:
    """In one sentence each."""
    model = Model()
    model.add_variables(["a", "b"], 3)
    model.add_variable("t", ["x", "y"])
    with pytest.raises(ProblemError, match=words):
        action(model)


@pytest.mark.parametrize(
    ("action", "cells"),
    [
        (lambda m, v: m.all_different(v), "499,500,000,000"),
        (lambda m, v: m.linear({one: 1 + 1000 * i for i, one in enumerate(v)}, "==", 10**6), "1,000,000,000"),
        (lambda m, v: m.forbid(v[:3], lambda a, b, c: a == b == c), "1,000,000,000"),
        (lambda m, v: m.add_cost(v[:3], {}, default=0), "1,000,000,000"),
    ],
)
def test_what_would_explode_is_refused_with_its_size(action: Callable[..., None], cells: str) -> None:
    """A thousand variables of a thousand values: the sentence has the number of cells."""
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(1000)), 1000)
    with pytest.raises(ProblemError, match=f"needs tables of {cells} cells.*more than 67,108,864"):
        action(model, names)


def test_long_statements_stay_small() -> None:
    """Counting one of a thousand values among a thousand variables takes tables of a few cells each."""
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(1000)), 1000)
    model.at_most(names, 7, 3)
    problem = model.build()
    assert len(problem.pool) < 5_000
    values = np.zeros(1000, dtype=np.int64)
    values[[5, 50, 500]] = 7
    assert problem.cost(values) == 0
    values[999] = 7
    assert problem.cost(values) == np.inf


def test_statements_about_nothing() -> None:
    """Of no variables a count is 0: what cannot hold then forbids everything, and the rest says nothing."""
    model = Model()
    model.add_variable("a", 2)
    model.all_different([])
    model.at_most([], "q", 0)
    model.implies({}, {})
    model.linear({}, "<=", 1)
    assert model.build().num_factors == 0
    model.at_least([], "q", 2, price=3)
    assert model.build().cost([0]) == 6
    model.implies({}, {"a": 1})
    assert model.build().cost([[0], [1]]).tolist() == [np.inf, 6]
    model.linear([], ">=", 1)
    assert model.build().cost([1]) == np.inf


def test_names_of_auxiliary_variables_are_nobody_elses(tmp_path: Any) -> None:
    """Variables may be called as they would be, before and after the statement; files say which they are."""
    model = Model()
    names = model.add_variables([f"aux{i}" for i in range(1, 13)], 2)
    model.exactly(names, 1, 6, name="half")
    model.add_variable("aux14", 2)
    problem = model.build()
    assert len(set(problem.names.variables)) == problem.num_variables > 20
    assert problem.auxiliaries.num_visible == 13
    assert list(problem.names.labelled([0, 1] * 6 + [1])) == [*names, "aux14"]
    assert {problem.names.factor(f) for f in range(problem.num_factors)} == {"half"}
    notes = dabp.write(problem, tmp_path / "half.uai")
    assert any(f"the last {problem.auxiliaries.count} variables (aux13 to aux" in note for note in notes)
    assert dabp.read(tmp_path / "half.uai").num_variables == problem.num_variables
    assert dabp.write(problem, tmp_path / "half.cfn") == []  # as two functions, without auxiliary variables
    again = dabp.read(tmp_path / "half.cfn")
    assert again.auxiliaries.num_visible == 13
    assert again.cost([0, 1] * 6 + [1]) == 0
    assert again.cost([0, 1] * 5 + [0, 0, 1]) == np.inf


@pytest.mark.parametrize("solver", ["auto", "annealing"])
@pytest.mark.parametrize("presolve", [False, True])
def test_solving_a_model_with_statements(solver: str, presolve: bool) -> None:
    """Presolve, fixed values, starts by name and a Model itself, against exhaustive search."""
    rng = np.random.default_rng(3)
    model = Model(maximize=True)
    names = model.add_variables((f"item{i}" for i in range(12)), [0, 1])
    weights, values = rng.integers(1, 12, 12), rng.integers(1, 20, 12)
    for name, value in zip(names, values.tolist(), strict=True):
        model.add_cost(name, {0: 0, 1: value})
    model.linear(dict(zip(names, weights.tolist(), strict=True)), "<=", 30)
    every = all_assignments(Problem([2] * 12))
    every = every[(every[:, 0] == 1) & (every @ weights <= 30)]
    start = dict.fromkeys(names, 0) | {"item0": 1}
    limits = {"time_limit": 20} if solver == "auto" else {"max_iterations": 200}
    result = dabp.solve(model, solver, fix={"item0": 1}, initial=start, presolve=presolve, **limits)
    best = int((every @ values).max())
    assert result.values is not None
    assert list(result.values) == names
    assert (result.cost == best) if solver == "auto" else (values[0] <= result.cost <= best)
    if solver == "auto":
        assert result.status.value == "OPTIMAL"


def test_small_statements_are_one_table_and_large_ones_a_chain() -> None:
    """What fits a small table needs no auxiliary variables; of what does not, tables stay small."""
    for count in (3, 10, 11, 30):
        model = Model()
        model.at_most(model.add_variables((f"x{i}" for i in range(count)), 2), 1, 2)
        problem = model.build()
        assert (problem.auxiliaries.count == 0) == (2**count <= SMALL_CELLS)
        assert (problem.num_factors == 1) == (2**count <= SMALL_CELLS)
        assert len(problem.pool) <= SMALL_CELLS


def test_statements_without_a_name_get_one_that_is_free() -> None:
    """Their kind and a number; names that were given are never taken."""
    model = Model()
    names = model.add_variables(["a", "b"], 2)
    model.add_cost("a", [0, 1], name="exactly1")
    model.exactly(names, 1, 1)
    model.exactly(names, 0, 1)
    model.all_different(names, name="apart")
    problem = model.build()
    assert [problem.names.factor(f) for f in range(4)] == ["exactly1", "exactly2", "exactly3", "apart"]


def test_equal_tables_are_stored_once() -> None:
    """Also those of separate statements."""
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(40)), 2)
    model.at_most(names[:20], 1, 3)
    once = len(model.build().pool)
    model.at_most(names[20:], 1, 3)
    assert len(model.build().pool) == once


def test_prices_are_numbers() -> None:
    """None is forbidden; anything else is at least 0."""
    assert price_of(None) == math.inf
    assert price_of(2) == 2.0
    for wrong in (-1, math.nan, "1", [1]):
        with pytest.raises(ProblemError, match="a price is a number"):
            price_of(wrong)
    assert listed("a") == ["a"]
    assert listed(("a", "b")) == ["a", "b"]
