"""Numbers of callers: those that do not fit are refused in a sentence, wherever they come in; nothing is cut."""

from __future__ import annotations

import contextlib
import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.errors import DabpError, KeywordError
from dabp.problem import Problem
from dabp.problem.conversion import as_float, as_floats, as_integers
from dabp.problem.model import Model


def model_of(count: int = 2, values: int = 2) -> Model:
    model = Model()
    model.add_variables((f"x{i}" for i in range(count)), values)
    return model


def built(state: Callable[[Model], Any], count: int = 2) -> Problem:
    model = model_of(count)
    state(model)
    return model.build()


def relaxed(price: Any) -> dabp.Result:
    problem = built(lambda model: model.forbid("x0", [0, 1], name="never"))
    return dabp.solve(problem, "tabu", relax={"never": price}, max_iterations=3)


COSTS = ["constant", "constant of a model", "cost", "cost by label", "cost by function", "pool"]
TWELVE = [f"x{i}" for i in range(12)]
TAKES_A_NUMBER: dict[str, Callable[[Any], Any]] = {
    "bound of linear": lambda x: built(lambda m: m.linear(["x0", "x1"], "<=", x)),
    "bound of a chain": lambda x: built(lambda m: m.linear(TWELVE, "<=", x), 12),
    "coefficient": lambda x: built(lambda m: m.linear({"x0": x, "x1": 1}, "<=", 1)),
    "price of linear": lambda x: built(lambda m: m.linear(["x0", "x1"], "<=", 0, price=x)),
    "price of a chain": lambda x: built(lambda m: m.linear(TWELVE, "<=", 3, price=x), 12),
    "count": lambda x: built(lambda m: m.at_most(["x0", "x1"], 1, x)),
    "count of a chain": lambda x: built(lambda m: m.exactly(TWELVE, 1, x), 12),
    "price of a count": lambda x: built(lambda m: m.at_least(["x0", "x1"], 1, 2, price=x)),
    "price of all_different": lambda x: built(lambda m: m.all_different(["x0", "x1"], price=x)),
    "price of implies": lambda x: built(lambda m: m.implies({"x0": 1}, {"x1": 1}, price=x)),
    "price of element": lambda x: built(lambda m: m.element("x0", [1, 0], "x1", price=x)),
    "price of forbid": lambda x: built(lambda m: m.forbid("x0", [1], price=x)),
    "constant of a model": lambda x: built(lambda m: m.add_constant(x)),
    "cost": lambda x: built(lambda m: m.add_cost("x0", [x, 0])),
    "cost by label": lambda x: built(lambda m: m.add_cost("x0", {0: x, 1: 0})),
    "default cost": lambda x: built(lambda m: m.add_cost("x0", {0: 0}, default=x)),
    "cost by function": lambda x: built(lambda m: m.add_cost("x0", lambda value: x)),
    "constant": lambda x: Problem([2], constant=x),
    "limit": lambda x: Problem([2], limit=x),
    "pool": lambda x: Problem([2], [0], [0, 1], [x, 1], [0, 2]),
    "with_costs": lambda x: Problem([2], [0], [0, 1], [0, 1], [0, 2]).with_costs([x, 0]),
    "coupling by name": lambda x: Problem.from_qubo({(0, 1): x}),
    "coupling": lambda x: Problem.from_qubo([[0, x], [0, 0]]),
    "offset": lambda x: Problem.from_qubo({(0, 1): 1}, x),
    "field": lambda x: Problem.from_ising([x, 0], [[0, 1], [0, 0]]),
    "field by name": lambda x: Problem.from_ising({0: x}, {(0, 1): 1}),
    "weight of a grid": lambda x: Problem.grid(np.zeros((2, 2, 2)), weights=x),
    "cap of a grid": lambda x: Problem.grid(np.zeros((2, 2, 2)), "truncated-linear", cap=x),
    "unary cost of a grid": lambda x: Problem.grid([[[x, 0], [0, 0]]]),
    "pairwise cost of a grid": lambda x: Problem.grid(np.zeros((2, 2, 2)), [[0, x], [1, 0]]),
    "domain size": lambda x: Problem([x]),
    "domain size of from_tables": lambda x: Problem.from_tables([x], []),
    "scope": lambda x: Problem([2], [x], [0, 1], [1, 1], [0, 2]),
    "scope of from_tables": lambda x: Problem.from_tables([2], [((x,), [1, 2])]),
    "index of add_costs": lambda x: built(lambda m: m.add_costs([[0]], [[1, 2], [3, 4]], index=[x])),
    "scope of add_costs": lambda x: built(lambda m: m.add_costs([[x]], [1, 2])),
    "price of relax": relaxed,
}


@pytest.mark.parametrize("place", TAKES_A_NUMBER)
def test_every_number_is_taken_or_refused_in_a_sentence(place: str) -> None:
    """Large, infinite, undefined, complex and other objects: an answer or a `DabpError`, never another exception."""
    for number in (1e30, 10**30, 1e308, 10**400, np.inf, -np.inf, np.nan, -1, None, "3", 1 + 2j, [1, [2]], Fraction(1)):
        with contextlib.suppress(DabpError):
            TAKES_A_NUMBER[place](number)


@pytest.mark.parametrize("place", TAKES_A_NUMBER)
def test_complex_numbers_and_text_are_refused(place: str) -> None:
    """A number with an imaginary part is none that could be cut, and text is no number."""
    for number in (1 + 2j, np.complex128(1 + 2j), "a"):
        with pytest.raises(DabpError):
            TAKES_A_NUMBER[place](number)


@pytest.mark.parametrize("place", [place for place in TAKES_A_NUMBER if "size" in place or "scope" in place])
def test_fractions_are_not_cut_to_whole_numbers(place: str) -> None:
    """Half a variable or value is none, nor is one too large for 64 bits."""
    for number in (0.5, 1e30, np.inf):
        with pytest.raises(DabpError, match="whole numbers"):
            TAKES_A_NUMBER[place](number)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, np.int64(2**53 + 1)])
@pytest.mark.parametrize("place", [*COSTS, "with_costs", "coupling", "offset", "field"])
def test_integers_that_rounding_would_change_are_refused(place: str, number: int) -> None:
    """2⁵³ + 1 is 2⁵³ as a float: a proof of it would be false by one."""
    with pytest.raises(DabpError, match=r"exact"):
        TAKES_A_NUMBER[place](number)


def test_large_numbers_that_cancel_are_refused() -> None:
    """What is left of them would have been rounded."""
    model = model_of()
    model.add_constant(2**53 - 1)
    with pytest.raises(DabpError, match="exact"):
        model.add_constant(2)
    assert model.build().constant == 2**53 - 1
    with pytest.raises(DabpError, match="exact"):
        Problem.from_qubo({(0, 1): 2**53 + 1, (1, 0): -(2**53)})


def test_arrays_keep_their_numbers() -> None:
    """Every kind of real number, as the float64 or int64 that is equal."""
    assert as_floats([Fraction(1, 2), 3, np.float32(0.5), True], "costs").tolist() == [0.5, 3, 0.5, 1]
    assert as_integers([2.0, 3], "sizes").tolist() == [2, 3]
    assert as_integers(np.array([2], dtype=np.uint8), "sizes").dtype == np.int64
    assert as_float(np.array(2.5), "a price") == 2.5
    with pytest.raises(DabpError, match="masked"):
        as_floats(np.ma.masked_array([1.0, 2.0], [True, False]), "costs")


MANY = [f"x{i}" for i in range(70)]


@pytest.mark.parametrize(
    "state",
    [
        lambda m: m.add_cost(MANY, lambda *labels: 3),
        lambda m: m.add_cost(MANY, {(0,) * 70: 3}),
        lambda m: m.forbid(MANY, [(0,) * 70], price=3),
        lambda m: m.allow(MANY, lambda *labels: False, price=3),
        lambda m: m.linear(MANY, ">=", 3, price=1),
    ],
)
def test_more_variables_than_an_array_has_axes(state: Callable[[Model], None]) -> None:
    """Seventy variables of one value each are one combination."""
    model = model_of(70, 1)
    state(model)
    assert model.build().cost([0] * 70) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Problem([10**9, 2]),
        lambda: Problem([2], variable_names=[1]),
        lambda: Problem([2], factor_names=[None]),
        lambda: Problem([2], name=None),
        lambda: Problem([2], keys=[[1]]),
        lambda: Problem([2], labels=[([1], [2])]),
        lambda: Problem([2], labels=[5]),
        lambda: Problem([2], maximize="no"),
        lambda: Problem.from_tables([2], [((5,), [1, 2])]),
        lambda: Problem.from_tables([2], [1, 2]),
        lambda: Problem.from_tables(None, None),
        lambda: Problem.from_tables(2, []),
        lambda: Problem.from_qubo([[1, 2], [3]]),
        lambda: Problem.from_networkx(5),
        lambda: Problem.from_dimod(5),
        lambda: Problem.from_pgmpy(5),
        lambda: Problem.from_pyagrum(5),
        lambda: Problem([2, 2]).cost([[1, 0], [1]]),
        lambda: Problem([2, 2]).cost([np.inf, 0]),
        lambda: built(lambda m: m.element("x0", None, "x1")),
        lambda: built(lambda m: m.linear(["x0"], [], 1)),
        lambda: built(lambda m: m.add_costs([[0], [1, 0]], [1, 2])),
        lambda: built(lambda m: m.add_cost("x0", [1, 2], name=5)),
        lambda: Model(max_cells="many"),
        lambda: dabp.generate("ising", row_count=10**9),
        lambda: dabp.generate("meetings", events_count=10**9),
        lambda: dabp.generate("random-cop", domain=10**6),
    ],
)
def test_what_is_of_no_use_is_refused_in_a_sentence(make: Callable[[], object]) -> None:
    """Wrong kinds of objects, places out of range, and sizes beyond the memory."""
    with pytest.raises(DabpError):
        make()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Model(maximise=True), r"Model\(\) has no argument 'maximise'; did you mean 'maximize'"),
        (lambda: Problem([2], maximise=True), r"Problem\(\) .* 'maximize'"),
        (lambda: Problem([2]).replace(maximise=True), "'maximize'"),
        (lambda: Problem.from_qubo([[1]], maximise=True), r"from_qubo\(\) .* 'maximize'"),
        (lambda: Problem.grid(np.zeros((2, 2, 2)), weight=1), r"grid\(\) .* 'weights'"),
        (lambda: Problem([2]).explain([0], limt=1), r"explain\(\) .* 'limit'"),
        (lambda: model_of().add_cost("x0", [1, 2], defalt=1), r"add_cost\(\) .* 'default'"),
        (
            lambda: model_of().at_most(["x0"], 1, 1, penalty=3),
            r"at_most\(\) .* 'penalty': since version 0.2 .* 'price'",
        ),
        (lambda: model_of().forbid(["x0"], [1], penalty=3), r"forbid\(\) .* 'penalty': since version 0.2 .* 'price'"),
    ],
)
def test_unknown_arguments_are_answered_with_the_nearest_name(call: Callable[[], object], words: str) -> None:
    """The function is named as users call it, without the class that it happens to be defined in."""
    with pytest.raises(KeywordError, match=words):
        call()


@pytest.mark.parametrize("name", ["\n", "a\tb", "\x00", "\ud800", "\u202ex", "é" * 500, "=1+1", "a,b", " "])
def test_odd_names_stay_as_they_are(name: str) -> None:
    """In answers, copies and pickles, of problems and of models; a card shows them without moving a cursor."""
    model = Model(name)
    model.add_variable(name, [name, "q"])
    model.add_cost(name, [1, 0], name=name)
    problem = model.build()
    for other in (
        pickle.loads(pickle.dumps(problem)),
        copy.deepcopy(problem),
        pickle.loads(pickle.dumps(model)).build(),
    ):
        assert other == problem
        assert (other.names.variable(0), other.names.factor(0), other.name) == (name, name, name)
        assert other.cost({name: name}) == 1
    assert "\x00" not in problem._repr_html_()


def test_pickles_are_read_by_other_processes() -> None:
    """A problem with auxiliary variables and derived facts, and the model that it was built from."""
    model = model_of(12)
    model.linear(TWELVE, "<=", 3, price=2)
    problem = model.build()
    cost = problem.cost([1] * 12)
    code = "import pickle, sys; problem, model = pickle.load(sys.stdin.buffer); print(problem.cost([1] * 12), "
    code += "model.build() == problem)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps((problem, model)), capture_output=True, timeout=100, check=True
    )
    assert done.stdout.decode().split() == [str(cost), "True"]
