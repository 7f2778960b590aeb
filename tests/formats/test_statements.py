"""Global functions written by keyword: read back they cost the same, and toulbar2 finds the optimum that they have."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.formats import read, write
from dabp.problem import Problem
from dabp.problem.model import Model
from tests.formats.peer import optimal_values
from tests.problem.globals.definitions import KINDS
from tests.problem.globals.test_globals import posted
from tests.problems import all_assignments

CASES = int(os.environ.get("GLOBALS_CASES", "12"))


def drawn(kind: str, case: int, format: str) -> Problem:
    """A random statement, with values as symbols where it is about these, and costs of single variables."""
    rng = np.random.default_rng(case)
    made = KINDS[kind](rng)
    if kind not in ("linear", "max_of", "spanning_tree", "cost_between"):
        made = made._replace(symbols=[np.arange(len(own)) for own in made.symbols])
    alone = posted(made, maximize=format == "cfn" and bool(rng.random() < 0.3))
    sign = -1 if alone.maximize else 1
    model = [((i,), sign * rng.integers(0, 5, size)) for i, size in enumerate(alone.domain_sizes.tolist())]
    unary = Problem.from_tables(alone.domain_sizes, model[: alone.auxiliaries.num_visible], maximize=alone.maximize)
    statements = [one._replace(factors=tuple(f + unary.num_factors for f in one.factors))
                  for one in alone.auxiliaries.statements]  # fmt: skip
    return Problem(
        alone.domain_sizes,
        np.concatenate([unary.scope_variables, alone.scope_variables]),
        np.concatenate([unary.scope_offsets, unary.scope_offsets[-1] + alone.scope_offsets[1:]]),
        np.concatenate([unary.pool, alone.pool]),
        np.concatenate([unary.pool_offsets, unary.pool_offsets[-1] + alone.pool_offsets[1:]]),
        np.concatenate([unary.factor_table, len(unary.pool_offsets) - 1 + alone.factor_table]),
        maximize=alone.maximize,
        definitions=unary.num_factors + alone.auxiliaries.definitions,
        statements=statements,
    )


def costs(problem: Problem) -> np.ndarray:
    """Of all assignments of the visible variables."""
    seen = problem.auxiliaries.num_visible
    rows = all_assignments(Problem(problem.domain_sizes[:seen]))
    return np.asarray(problem.cost(problem.auxiliaries.completed(rows)))


@pytest.mark.parametrize("format", ["wcsp", "cfn"])
@pytest.mark.parametrize("kind", KINDS)
def test_written_and_read_back(kind: str, format: str) -> None:
    """Every assignment costs what it did, up to the constant and scale that the notes tell."""
    for case in range(CASES):
        problem = drawn(kind, case, format)
        text = io.StringIO()
        notes = write(problem, text, format)
        again = read(io.StringIO(text.getvalue()), format)
        if any("multiplied" in note or "raised" in note for note in notes):
            continue
        count = problem.auxiliaries.num_visible
        before = costs(problem)
        if again.num_variables - again.auxiliaries.count == count:
            assert np.allclose(costs(again), before), (case, text.getvalue())
        best = before.max() if problem.maximize else before.min()
        found = dabp.solve(again, time_limit=5, solver="mbe")
        assert found.cost is None if np.isinf(best) else np.isclose(best, found.cost), (case, text.getvalue())


@pytest.mark.parametrize("format", ["wcsp", "cfn"])
@pytest.mark.parametrize("kind", KINDS)
def test_toulbar2_reads_what_is_written(kind: str, format: str, tmp_path: Path) -> None:
    """Its optimum costs as much as the least of all assignments."""
    problems = [drawn(kind, case, format) for case in range(CASES)]
    paths = [tmp_path / f"{case}.{format}" for case in range(CASES)]
    for problem, path in zip(problems, paths, strict=True):
        write(problem, path)
    for problem, path, values in zip(problems, paths, optimal_values(paths), strict=True):
        found = costs(problem)
        best = found.max() if problem.maximize else found.min()
        if np.isinf(best):
            assert values is None, path.read_text()
        else:
            assert isinstance(values, list), (values, path.read_text())
            assert np.isclose(problem.cost(values[: problem.auxiliaries.num_visible]), best), path.read_text()


def paired(model: Model, sign: int) -> None:
    """A price with a decimal, of which tables have an even number of times only."""
    model.add_variables(["d", "e", "f", "g"], 2)
    model.same(["d", "e"], ["f", "g"], measure="amount", price=2.5)
    model.add_cost(["d", "e"], [[0, sign * 20], [sign * 20, sign * 20]])
    model.add_cost(["f", "g"], [[sign * 9, sign * 20], [sign * 20, 0]])


def bounded(name: str, sign: int) -> Model:
    """Statements with bounds and prices that readers of files may understand in another way."""
    model = Model(maximize=sign < 0)
    names = model.add_variables(["a", "b", "c"], 3)
    for number, one in enumerate(names):
        model.add_cost(one, [sign * (number + value) % 4 for value in range(3)])
    {
        "no count": lambda: model.at_least(names, 0, 10**20),
        "any count": lambda: model.at_most(names, 0, 10**20),
        "counts of few": lambda: model.gcc(names, {0: (0, 1), 1: 0}),
        "counts of none": lambda: model.gcc(names[:1], {1: 0}),
        "less than none": lambda: model.among(names, 0, 0, -1, measure="once", price=1),
        "price in pairs": lambda: paired(model, sign),
        "decimals": lambda: model.knapsack(dict.fromkeys(names, 0.12345678901234567), 0.3),
    }[name]()
    return model


NAMES = ("no count", "any count", "counts of few", "counts of none", "less than none", "price in pairs", "decimals")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("format", ["wcsp", "cfn"])
def test_bounds_and_prices_at_the_edge(format: str, sign: int, tmp_path: Path) -> None:
    """Bounds beyond all counts, some values without bounds, prices with more decimals than tables have."""
    problems = [bounded(name, sign).build() for name in NAMES]
    paths = [tmp_path / f"{number}.{format}" for number in range(len(NAMES))]
    for problem, path in zip(problems, paths, strict=True):
        write(problem, path)
    for name, problem, path, values in zip(NAMES, problems, paths, optimal_values(paths), strict=True):
        found = costs(problem)
        best = found.max() if sign < 0 else found.min()
        again = dabp.solve(read(path), "mbe", time_limit=5)
        if np.isinf(best):
            assert values is None, name
            assert again.assignment is None, name
        else:
            assert again.assignment is not None, name
            for each in (values, again.assignment):
                assert isinstance(each, list | np.ndarray), (name, each)
                assert problem.cost(list(each)[: problem.auxiliaries.num_visible]) == best, name
