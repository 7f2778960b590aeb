"""Searches on one problem move on one table, which goes with the last of them."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_costs.shared_tables import shared_table
from dabp.solvers.stopped import Stopped


def drawn(domain: int) -> Problem:
    """Small."""
    return dabp.generate("random-cop", variables=10, domain=domain, density=0.5, seed=1)


@pytest.mark.parametrize("domain", [2, 4])
def test_searches_at_once_share_and_do_as_each_alone(domain: int) -> None:
    """Annealing and tabu search in turns on one table give what each gives on its own."""
    problem = drawn(domain)
    alone = {name: dabp.solve(problem, name, max_iterations=40, seed=2).cost for name in ("annealing", "tabu")}
    searches = {name: make_solver(name).start(problem, seed=2, budget=Budget(max_iterations=40)) for name in alone}
    assert searches["annealing"].local is searches["tabu"].local
    best, done = dict.fromkeys(alone, float("inf")), dict.fromkeys(alone, 0)
    while min(done.values()) < 40:
        for name, search in searches.items():
            if done[name] < 40:
                step = search.step()
                done[name] += len(step.costs)
                best[name] = min(best[name], step.best_cost)
    assert best == alone


def test_a_table_goes_with_its_last_search() -> None:
    """Nothing stays behind, and equal problems that are two objects have a table each."""
    one, other = drawn(4), drawn(4)
    table = shared_table(one, Guard())
    assert shared_table(one, Guard()) is table
    assert shared_table(other, Guard()) is not table
    seen = weakref.ref(table)
    del table
    gc.collect()
    assert seen() is None


def test_threads_that_come_at_once_make_one() -> None:
    """The second waits for the first."""
    problem = drawn(6)
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda _: shared_table(problem, Guard()), range(8)))
    assert all(table is tables[0] for table in tables)


def test_whoever_is_stopped_leaves_the_turn_to_the_next() -> None:
    """A guard that ends the making of a table costs the others nothing."""
    problem = drawn(4)
    with pytest.raises(Stopped):
        shared_table(problem, Guard(0.0))
    assert shared_table(problem, Guard()).problem is problem
