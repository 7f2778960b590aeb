"""Answers in the order of their costs, by elimination."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem.facts import minimized
from dabp.problem.guard import Guard
from dabp.solvers.elimination.best_answers import BestAnswers
from tests.problems import random_problem


@pytest.mark.parametrize("entries", [1, 10**6])
@pytest.mark.parametrize("seed", range(25))
def test_every_answer_comes_once_and_in_order(seed: int, entries: int) -> None:
    """Equal to sorting all assignments; also with messages so small that buckets are split."""
    problem = minimized(random_problem(seed, max_variables=6))
    rows = itertools.product(*(range(d) for d in problem.domain_sizes.tolist()))
    wanted = sorted(cost for row in rows if np.isfinite(cost := float(problem.cost(np.array(row)))))
    answers = BestAnswers(problem, Guard(), entries)
    answers.planned()
    found = list(answers)
    assert [float(problem.cost(row)) for row in found] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert len({row.tobytes() for row in found}) == len(wanted)
    assert answers.exhausted


def test_a_guard_ends_it() -> None:
    """Nothing is claimed then."""
    problem = minimized(random_problem(3, max_variables=6))
    answers = BestAnswers(problem, Guard(0.0))
    answers.planned()
    assert (list(answers), answers.exhausted) == ([], False)
