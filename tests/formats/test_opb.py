"""Pseudo-Boolean files mean what toulbar2 and a plain evaluation make of them."""

from __future__ import annotations

import io
import itertools
import random
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem
from tests.formats.peer import optimal_values

_RELATIONS = {">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b, "=": lambda a, b: a == b}


class _Statements:
    """A random file, and what an assignment of it costs by the definition of the format."""

    def __init__(self, seed: int, *, plain: bool):
        rng = random.Random(seed)
        self.count, self.sense, self.top = rng.randint(2, 9), rng.choice(["min", "max"]), np.inf
        literals = [[name] for name in range(1, self.count + 1)]
        many = literals if plain else [*literals, *([-v] for (v,) in literals), [1, -2], [2, 1, 2], [-1, -2, 1]]
        products = [[1, 2], list(range(1, self.count + 1))] if plain else many
        soft = rng.random() < 0.5
        self.terms = [] if soft else [(rng.randint(-9, 9), p) for p in rng.choices(literals + products, k=6)]
        self.constraints = []
        for _ in range(rng.randint(1, 4)):
            row = [(rng.randint(-4, 4), p) for p in rng.sample(many, rng.randint(1, self.count))]
            cost = rng.randint(1, 6) if soft and rng.random() < 0.7 else np.inf
            self.constraints.append((cost, row, rng.choice(list(_RELATIONS)), rng.randint(-3, 3)))
        if soft:
            self.sense, self.top = "min", rng.randint(5, 20)
        elif not plain:
            self.constraints.append((3, [(1, [1]), (2, [2])], ">=", 2))

    @staticmethod
    def _row(terms: list[tuple[int, list[int]]]) -> str:
        return " ".join(f"{c:+d} " + " ".join(f"~x{-v}" if v < 0 else f"x{v}" for v in p) for c, p in terms)

    @property
    def text(self) -> str:
        lines = [f"* #variable= {self.count} #constraint= {len(self.constraints)}", "*"]
        if self.terms:
            lines.append(f"{self.sense}: {self._row(self.terms)} ;")
        elif np.isfinite(self.top):
            lines.append(f"soft: {self.top} ;")
        for cost, row, relation, bound in self.constraints:
            lines.append(f"{f'[{cost}] ' if np.isfinite(cost) else ''}{self._row(row)} {relation} {bound} ;")
        return "\n".join(lines) + "\n"

    def cost(self, x: tuple[int, ...]) -> float:
        def value(terms: list[tuple[int, list[int]]]) -> int:
            return sum(c * all(x[abs(v) - 1] == (v > 0) for v in p) for c, p in terms)

        broken = [cost for cost, row, r, bound in self.constraints if not _RELATIONS[r](value(row), bound)]
        worse = sum(broken)
        total = value(self.terms) + (-worse if self.sense == "max" else worse)
        return total if total < self.top or self.terms else np.inf


@pytest.mark.parametrize("seed", range(60))
def test_definition(seed: int) -> None:
    """Objective, products, negated literals, hard and soft constraints cost what the format says; a top forbids."""
    statements = _Statements(seed, plain=False)
    problem = read(io.StringIO(statements.text), "opb")
    assert problem.maximize == (statements.sense == "max" and bool(statements.terms))
    for x in itertools.product((0, 1), repeat=statements.count):
        cost = problem.cost(problem.auxiliaries.completed(np.array(x)))
        if statements.cost(x) == np.inf and problem.limit is not None:
            assert cost >= problem.limit
        else:
            assert cost == statements.cost(x), (statements.text, x)


def test_toulbar2_finds_the_same_optimum(tmp_path: Path) -> None:
    """toulbar2's own reader takes the same files for the same problems."""
    kept = []
    for seed in range(60):
        statements = _Statements(seed, plain=True)
        path = tmp_path / f"{seed}.{'opb' if statements.terms else 'wbo'}"
        path.write_text(statements.text, encoding="utf-8")
        kept.append((statements, path))
    for (statements, path), values in zip(kept, optimal_values([path for _, path in kept]), strict=True):
        assert not isinstance(values, str), (path, values)
        result = dabp.solve(read(path), time_limit=5.0)
        assert (values is None) == (result.status.name == "INFEASIBLE"), statements.text
        if values is not None:
            assert statements.cost(tuple(values[: statements.count])) == result.cost, statements.text


def test_long_constraint_is_a_chain() -> None:
    """A count over 60 variables is read through partial sums, and answers leave them out."""
    row = " ".join(f"+1 x{i}" for i in range(1, 61))
    problem = read(io.StringIO(f"min: {row} ;\n{row} >= 7 ;\n"), "opb")
    result = dabp.solve(problem, time_limit=5.0)
    assert result.cost == 7
    assert result.status.name == "OPTIMAL"
    assert problem.auxiliaries.num_visible == 60


def test_what_is_written_is_read_back() -> None:
    """Problems of two values are the same again, but for the constant that a note tells."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scopes = [tuple(rng.choice(5, size=k, replace=False).tolist()) for k in rng.integers(0, 4, 6)]
        tables = [rng.integers(-5, 6, (2,) * len(scope)).astype(float) for scope in scopes]
        for table in tables[:2]:
            table[rng.random(table.shape) < 0.3] = np.inf
        tables = [-table if seed % 2 else table for table in tables]
        problem = Problem.from_tables([2] * 5, list(zip(scopes, tables, strict=True)), maximize=bool(seed % 2))
        stream = io.StringIO()
        notes = write(problem, stream, "opb")
        again = read(io.StringIO(stream.getvalue()), "opb")
        assert again.num_variables == problem.num_variables
        x = np.array(list(itertools.product((0, 1), repeat=problem.num_variables)))
        given, found = problem.cost(x), again.cost(x)
        given = -given if problem.maximize else given
        np.testing.assert_array_equal(np.isinf(given), np.isinf(found))
        finite = np.isfinite(given)
        if finite.any():
            shift = found[finite] - given[finite]
            np.testing.assert_allclose(shift, shift[0], atol=1e-9)
            assert not shift[0] or any("constant" in note for note in notes)


def test_more_than_two_values_are_refused() -> None:
    """A variable of three values has no pseudo-Boolean text."""
    with pytest.raises(FormatError, match="two values"):
        write(Problem.from_tables([3], [((0,), [0, 1, 2])]), io.StringIO(), "opb")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("min: +1 x1\n", "';' at the end of the objective was expected"),
        ("min: +1 x1 ;\nmin: +1 x1 ;", "an objective is the first statement"),
        ("[2", "']' was expected, the end of the file found"),
        ("+1 x1 != 2 ;", "relations are >=, <= and ="),
        ("+1 x1 >= x2 ;", "a number was expected"),
        ("+1.5 x1 >= 1 ;", "the coefficients of a constraint are integers"),
        ("[-2] +1 x1 >= 1 ;", "a soft constraint costs -2"),
        ("+1 x1 >= 1" + "0" * 40 + " ;", "a number has more than 30 digits"),
        (" ".join(f"+{2**i} x{i}" for i in range(64)) + " >= 5 ;", "the coefficients of a constraint"),
        (
            " ".join(f"+{3**i % 10007} x{i}" for i in range(300)) + " = 500000 ;",
            "300 variables needs",
        ),
        ("* #variable= 999999999999\n+1 x1 >= 1 ;", "its variables would have"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    """What is wrong or too large is refused in a sentence, before it is made."""
    with pytest.raises(FormatError) as caught:
        read(io.StringIO(text), "opb")
    assert str(caught.value).partition(": ")[2].startswith(reason) or reason in str(caught.value)
