"""What members share whatever the limit: notes in words, and failures that cost only the member that fails."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import SolverError
from dabp.solvers.auto.counted_search import CountedSearch
from dabp.solvers.auto.incumbent import LEAST
from dabp.solvers.auto.member import Run, Situation
from dabp.solvers.base import Budget
from dabp.solvers.status import Status
from tests.problems import exhaustive
from tests.solvers.auto.shapes import cliques, line_of, placed


def failing(situation: Situation) -> Run:
    raise SolverError("on purpose")


def broken(situation: Situation) -> Run:
    raise ZeroDivisionError("by mistake")


def test_notes_tell_what_happened() -> None:
    """Each line says what it is about, and a line is there only if there is something to tell."""
    problem = cliques(1, 5, 3)
    optimum, best = exhaustive(problem)
    search = CountedSearch(
        problem, line_of(problem, placed("tabu"), placed("tabu")), seed=0, budget=Budget(), initial=None
    )
    incumbent = search.incumbent
    assert search.summary() == ()
    incumbent.raise_bound(-1.0, LEAST)  # what everybody can add up is no news
    assert search.summary() == ()
    incumbent.offer(np.zeros(5, dtype=np.int64), "dual", 0.5)
    incumbent.offer(best, "tabu", 1.25)
    incumbent.raise_bound(optimum - 1.0, "dual")
    search.members[0].seconds, search.members[1].seconds = 3.0, 0.14
    search.notes.append("dabp gave up: why")
    assert search.summary() == (
        "tabu found the answer after 1.25 s",
        "improvements: dual 1, tabu 1",
        "dual gave the bound",
        "time: tabu 3.1 s",
        "dabp gave up: why",
    )
    incumbent.raise_bound(optimum, "dual")
    assert "dual proved it" in search.summary()


def test_a_member_that_fails_costs_nothing_else() -> None:
    """A failure is noted, a bug is warned of as well, and the others answer."""
    problem = cliques(1, 6, 3)
    line = line_of(problem, placed("bp", failing, turn=5), placed("dbp", broken, turn=5), placed("mbe", turn=5))
    search = CountedSearch(problem, line, seed=0, budget=Budget(max_iterations=100), initial=None)
    search.step()
    with pytest.warns(UserWarning, match="dbp failed"):
        search.step()
    step = search.step()
    while step.finished is None:
        step = search.step()
    assert step.finished is Status.OPTIMAL
    assert search.incumbent.cost == exhaustive(problem)[0]
    assert {"bp gave up: on purpose", "dbp gave up: ZeroDivisionError: by mistake"} <= set(search.summary())
