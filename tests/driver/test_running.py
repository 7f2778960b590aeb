"""A run keeps the best assignment and bound, in the user's direction."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.driver.running import RunningSolve
from dabp.driver.stopping import Ended
from dabp.errors import SolverError
from dabp.problem import Problem
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status


@pytest.mark.parametrize("maximize", [False, True])
def test_only_better_is_kept(problem: Problem, maximize: bool) -> None:
    """Costs that are equal, worse, infinite or beyond the problem's limit change nothing."""
    sign = -1.0 if maximize else 1.0
    run = RunningSolve(
        problem.replace(pool=sign * problem.pool, maximize=maximize, limit=sign * 100.0), "s", 0, Clock()
    )
    first, second = np.zeros(8, dtype=np.int64), np.ones(8, dtype=np.int64)
    for cost, kept in ((np.inf, None), (100.0, None), (50.0, 50.0), (50.0, 50.0), (60.0, 50.0), (40.0, 40.0)):
        run.offer(second if cost == 40.0 else first, sign * cost)
        assert run.progress.cost == (None if kept is None else sign * kept)
    assert run.progress.assignment.tolist() == second.tolist()
    assert [cost for _, _, cost in run.trace.improvements] == [sign * 50.0, sign * 40.0]


@pytest.mark.parametrize("maximize", [False, True])
def test_bounds_are_monotone_and_stay_on_their_side(problem: Problem, maximize: bool) -> None:
    """Rounded up for integers, never weaker, never past the incumbent; far past it is a lie."""
    sign = -1.0 if maximize else 1.0
    run = RunningSolve(problem.replace(pool=sign * problem.pool, maximize=maximize), "s", 0, Clock())
    for bound, known in ((-np.inf, None), (1.2, 2.0), (0.5, 2.0), (np.nan, 2.0), (3.0, 3.0)):
        run.tighten(bound)
        assert run.progress.bound == (None if known is None else sign * known)
    run.offer(np.zeros(8, dtype=np.int64), sign * 7.0)
    run.tighten(7.0 + 1e-7)
    result = run.result(Ended(Status.OPTIMAL))
    assert (result.cost, result.bound, result.gap) == (sign * 7.0, sign * 7.0, 0.0)
    assert [bound for _, _, bound in result.trace.bounds] == [sign * 2.0, sign * 3.0, sign * 7.0]
    with pytest.raises(SolverError, match="beyond cost"):
        run.tighten(9.0)


def test_a_guess_gives_way_to_an_equal_answer_of_the_search(problem: Problem) -> None:
    """A proof is about the search's own assignment: costs that are equal as numbers may not be as sums."""
    run = RunningSolve(problem, "s", 0, Clock())
    guess, own, other = (np.full(8, value) for value in range(3))
    run.offer(guess, 5.0, guessed=True)
    assert ((run.progress.assignment == guess).all(), run.search_cost) == (True, None)
    run.offer(own, 5.0)
    assert ((run.progress.assignment == own).all(), run.search_cost) == (True, 5.0)
    run.offer(other, 5.0)
    assert (run.progress.assignment == own).all()
    assert len(run.trace.improvements) == 1


def test_what_is_kept_is_nobody_elses(problem: Problem) -> None:
    """Neither a search that reuses its array nor a callback that writes into the incumbent changes the answer."""
    run = RunningSolve(problem, "s", 0, Clock())
    values = np.zeros(8, dtype=np.int64)
    run.offer(values, float(problem.cost(values)))
    values[:] = 1
    seen = run.progress.assignment
    assert seen is not None
    with pytest.raises(ValueError, match="read-only"):
        seen[:] = 2
    result = run.result(Ended(Status.LIMIT))
    assert problem.cost(result.assignment) == result.cost
    result.assignment[:] = 1  # the caller's own
    assert run.progress.assignment.tolist() == [0] * 8


@pytest.mark.parametrize(
    ("belief", "status", "kept", "note"),
    [
        ([0.5, 0.5], Status.CONVERGED, True, "no feasible assignment was found"),
        ([0.5, np.nan], Status.CONVERGED, False, "no beliefs"),
        ([0.5, 0.5], Status.INFEASIBLE, False, "no beliefs"),
    ],
)
def test_only_what_can_be_believed_is_handed_out(belief: list[float], status: Status, kept: bool, note: str) -> None:
    """Numbers, and not of what is proved infeasible; a note says why there are none, or why to doubt them."""
    forbidden = Problem.from_tables([2], [((0,), [np.inf, np.inf])])
    run = RunningSolve(forbidden, "s", 0, Clock())
    run.believe((np.array(belief),), status)
    assert (run.beliefs is not None) == kept
    assert run.notes[-1].startswith(note)
    assert ("approximate" in run.notes[0]) == kept
