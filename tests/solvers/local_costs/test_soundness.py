"""States of local search that came from a file: what no search can have come to is refused before a kernel sees it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dabp
from dabp.kernels.local_search.tabu_moves import DIRTY
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search
from dabp.solvers.local_costs.soundness import check_journal, check_ring, within


@pytest.fixture
def search() -> Search:
    """Tabu search after some steps, with places that are tabu."""
    problem = dabp.generate("random-cop", variables=20, domain=3, density=0.4, seed=2)
    search = make_solver("tabu").start(problem, seed=1, budget=Budget(max_iterations=30))
    for _ in range(3):
        search.step()
    return search


def test_a_state_fits_itself(search: Search) -> None:
    """What a search has come to is sound."""
    search.local.check(search.state)
    search.local.check_moves(search.state, search._moves)


def test_a_chain_that_never_ends_is_refused(search: Search) -> None:
    """A kernel that follows it would never return: an entry twice, a circle, one that outlives its place."""
    moves, pad = search._moves, search.local.units.pad
    check_ring(moves, len(moves.closed), pad)
    live = np.flatnonzero(moves.ending >= 0)
    assert len(live) > 1
    twice = moves.ending.copy()
    twice[live[0]] = twice[live[1]]
    circle = moves.following.copy()
    circle[moves.ending[live[0]]] = moves.ending[live[0]]
    for changes in ({"ending": twice}, {"following": circle}, {"ending": np.full_like(moves.ending, 3)}):
        with pytest.raises(ValueError, match="never end"):
            check_ring(moves._replace(**changes), len(moves.closed), pad)


@pytest.mark.parametrize("name", ["made", "following", "ending", "dirty", "closed", "until"])
def test_indices_beyond_their_range_are_refused(search: Search, name: str) -> None:
    """Each array that a kernel reads places or steps from."""
    moves = search._moves
    clock = moves.clock.copy()
    clock[DIRTY] = len(moves.dirty)
    wild = np.full_like(getattr(moves, name), 2**40 if name != "closed" else 5)
    with pytest.raises(ValueError, match=r"beyond|not marked"):
        check_ring(moves._replace(clock=clock, **{name: wild}), len(moves.closed), search.local.units.pad)


def test_local_costs_of_another_assignment_are_refused(search: Search) -> None:
    """They are computed again, and so are sums and what is violated."""
    for name in ("local", "x", "tally"):
        changed = getattr(search.state, name).copy()
        changed[0] += 1 if changed[0] == 0 else -1
        with pytest.raises(ValueError, match=r"do not fit|no such values"):
            search.local.check(search.state._replace(**{name: changed}))


def test_journals_and_ranges() -> None:
    """A journal longer than its room, and values outside a half-open range."""
    state = SimpleNamespace(journal=np.zeros(3, dtype=np.int64), tally=np.full(8, 9))
    with pytest.raises(ValueError, match="journal"):
        check_journal(state)
    within("values", np.array([0, 2]), 0, 3)
    with pytest.raises(ValueError, match="values are beyond"):
        within("values", np.array([0, 3]), 0, 3)
