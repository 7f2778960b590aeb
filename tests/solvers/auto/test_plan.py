"""The plan is the one place of the numbers that decide who runs when."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

import dabp.solvers.auto
from dabp.problem import Problem
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.kinds import line_up
from dabp.solvers.auto.plan import FIRST_RATE, SHARES, character, first_rate, iteration_seconds, setup_seconds
from tests.permutations import permutation_problem
from tests.solvers.auto.shapes import cliques, from_pairs


def test_no_other_module_of_the_portfolio_has_constants() -> None:
    """A number at the top of another module would be a second place to look for who runs when."""
    folder = Path(dabp.solvers.auto.__file__).parent
    for path in sorted(folder.glob("*.py")):
        if path.name == "plan.py":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                numbers = [
                    each.value
                    for each in ast.walk(node.value)
                    if isinstance(each, ast.Constant) and isinstance(each.value, int | float)
                ]
                assert not numbers, f"{path.name}:{node.lineno}"


def test_every_member_can_take_part() -> None:
    """Each name of the plan is one of the solver's members on some problem, so that none is there in vain."""
    rng = np.random.default_rng(0)
    image = from_pairs(25, 4, lambda: rng.integers(1, 9) * (1.0 - np.eye(4)))
    binary = from_pairs(25, 2, lambda: rng.choice([-1.0, 1.0]) * np.eye(2))
    colouring = from_pairs(15, 4, lambda: rng.integers(1, 9) * np.eye(4))
    crisp = from_pairs(5, 2, lambda: np.array([[0.0, np.inf], [np.inf, 0.0]]))
    problems = (cliques(1, 8, 3), Problem([3] * 300), Problem([3] * 1000), image, binary, colouring, crisp)
    taking_part = {
        kind.name
        for problem in problems
        for seconds in (1e-6, 1.0, 100.0)
        for kind in line_up(features_of(problem), seconds).kinds
    }
    assert taking_part | {"elimination"} == set(SHARES)


def test_characters() -> None:
    """Problems of each kind are recognised, by their tables and not by their size alone, and the reason says why."""
    rng = np.random.default_rng(0)
    grids = {
        "image": from_pairs(25, 4, lambda: rng.integers(1, 9) * (1.0 - np.eye(4))),
        "large": from_pairs(25, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)),
        "binary": from_pairs(25, 2, lambda: rng.choice([-1.0, 1.0]) * np.eye(2)),
        "medium": from_pairs(15, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)),
        "small": from_pairs(10, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)),
        "permutation": permutation_problem(2),
    }
    independent = from_pairs(25, 2, lambda: np.array([[0.0, 0.0], [0.0, np.inf]]))
    assert character(features_of(independent))[0] == "large"  # two values, but BP goes around what is forbidden better
    for expected, problem in grids.items():
        found, reason = character(features_of(problem))
        assert found == expected
        assert reason


def test_starting_takes_longer_the_larger_the_problem() -> None:
    """What a start costs grows with the edges, and nobody is left out of a small problem for it."""
    small, larger = (features_of(from_pairs(side, 3, lambda: np.eye(3))) for side in (5, 20))
    for name in SHARES:
        assert 0.0 <= setup_seconds(name, small) <= setup_seconds(name, larger) < 0.1


def test_a_first_run_of_messages_ends_in_time() -> None:
    """The larger the problem and the less the time, the faster the first run freezes; never slower than a short one."""
    small, large = features_of(from_pairs(10, 4, lambda: np.eye(4))), features_of(from_pairs(40, 4, lambda: np.eye(4)))
    assert first_rate(small, 10.0) == first_rate(large, 10.0) == FIRST_RATE
    rates = [first_rate(large, horizon) for horizon in (0.1, 0.01, 0.001)]
    assert rates == sorted(rates)
    assert FIRST_RATE < rates[1] < 1.0
    for horizon in (0.01, 0.02):
        assert iteration_seconds(large) / first_rate(large, horizon) <= horizon
