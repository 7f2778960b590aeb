"""Tables that say something short: found, said and meant as they were."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.status import Status
from dabp.solvers.toulbar2 import closed_forms
from dabp.solvers.toulbar2.toulbar2 import MODES, Toulbar2
from tests.problems import exhaustive_optimum

KINDS = (">=", "band", "disj", "sdisj")


def _table(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Costs by the definition of each kind."""
    x, y = np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
    if kind == ">=":
        missing = np.maximum(y + rng.integers(-3, 3) - x, 0.0)
        return np.where(missing <= rng.integers(0, 4), missing, np.inf)
    if kind == "band":
        low = rng.integers(-4, 2)
        return np.where((x - y >= low) & (x - y <= low + rng.integers(0, 4)), 0.0, np.inf)
    x_gap, y_gap = rng.integers(1, 3, size=2)
    apart = (x >= y + y_gap) | (y >= x + x_gap)
    if kind == "disj":
        return np.where(apart, 0.0, rng.choice([3.0, np.inf]))
    x_last, y_last = shape[0] - 1 - rng.integers(2), shape[1] - 1 - rng.integers(2)
    costs = np.where(x == x_last, rng.integers(0, 5), 0.0) + np.where(y == y_last, rng.integers(0, 5), 0.0)
    return np.where((x <= x_last) & (y <= y_last) & (apart | (x == x_last) | (y == y_last)), costs, np.inf)


def _problem(kind: str, seed: int, costs: bool = True) -> Problem:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 9, size=4).tolist()
    pairs = [pair for pair in itertools.permutations(range(4), 2) if rng.random() < 0.4] or [(0, 1)]
    tables = [((a, b), _table(kind, (sizes[a], sizes[b]), rng)) for a, b in pairs]
    tables += [((v,), rng.integers(0, 12, size=sizes[v]).astype(float)) for v in range(4) if costs]
    return Problem.from_tables(sizes, tables)


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_the_same_by_few_numbers(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against every assignment, with and without costs of single variables; and some are found in each kind."""
    monkeypatch.setattr(closed_forms, "MIN_CELLS", 1)
    found = 0
    for seed in range(8):
        problem = _problem(kind, seed, costs=seed % 4 > 0)
        found += len(closed_forms.closed_forms(problem, Guard()))
        optimum = exhaustive_optimum(problem)
        result = dabp.solve(problem, "toulbar2", presolve=False)
        assert result.cost == optimum
        assert result.status is (Status.INFEASIBLE if optimum is None else Status.OPTIMAL)
    assert found >= 8


def _said(post: list, shape: tuple[int, int]) -> np.ndarray:
    """The costs that a post means, by toulbar2's manual."""
    kind, first, second, *numbers = post
    values = np.indices(shape)
    x, y = values[first], values[second]
    if kind == ">=":
        missing = np.maximum(y + numbers[0] - x, 0)
        return np.where(missing <= numbers[1], missing, np.inf)
    apart = (x >= y + numbers[1]) | (y >= x + numbers[0])
    if kind == "disj":
        return np.where(apart, 0.0, numbers[2])
    x_last, y_last, x_cost, y_cost = numbers[2:]
    costs = np.where(x == x_last, x_cost, 0.0) + np.where(y == y_last, y_cost, 0.0)
    return np.where((x <= x_last) & (y <= y_last) & (apart | (x == x_last) | (y == y_last)), costs, np.inf)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(30))
def test_what_is_said_is_the_table_and_nothing_near_it(kind: str, seed: int) -> None:
    """The sum of what is posted is the table; one cell that differs is never lost."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 12)), int(rng.integers(3, 12)))
    table = _table(kind, shape, rng)
    for changed in (False, True):
        if changed:
            table[rng.integers(shape[0]), rng.integers(shape[1])] += rng.choice([1.0, 5.0, np.inf])
        posts = closed_forms.closed_form(table)
        if posts:
            assert np.array_equal(sum(_said(post, shape) for post in posts), table)


def test_the_keywords_of_a_file_are_found_again(tmp_path) -> None:
    """Through presolve's eyes or not: large tables by keyword are no cells to send."""
    lines = ["2 0 1 -1 >= 5 0", "2 1 2 -1 disj 4 6 9", "2 2 0 -1 sdisj 4 6 99 99 3 4", "2 0 2 -1 = 0 0"]
    path = tmp_path / "a.wcsp"
    path.write_text("p 3 100 4 1000\n100 100 100\n" + "\n".join(lines) + "\n")
    problem = dabp.read(path)
    assert sorted(closed_forms.closed_forms(problem, Guard())) == [0, 1, 2, 3]
    assert closed_forms.cells_handed_over(problem, Guard()) == 0


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "default"])
def test_other_modes_are_handed_tables(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """toulbar2's local searches know tables only."""
    monkeypatch.setattr(closed_forms, "MIN_CELLS", 1)
    problem = _problem("disj", 3)
    assert dabp.solve(problem, Toulbar2(mode=mode, steps=500), presolve=False).cost == exhaustive_optimum(problem)
