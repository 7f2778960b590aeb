"""One compiled table for all searches that are under way on a problem: the members of a portfolio need the same one.

A table never changes once it is made, searches keep what does in states of their own. It is forgotten with the last
search that moves on it.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakValueDictionary

from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.binary_costs import BinaryCosts
from dabp.solvers.local_costs.colouring import Classes, classes_of
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_costs.search_table import Table
from dabp.solvers.stopped import ask


class _Turn:
    """Who makes a problem's table while others wait for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_lock = threading.Lock()
_turns: WeakValueDictionary[int, _Turn] = WeakValueDictionary()
_tables: WeakValueDictionary[int, Table[Any]] = WeakValueDictionary()
"""By the problem's `id`, which is its own as long as the table, which holds it, lives."""


def shared_table(problem: Problem, guard: Guard) -> Table[Any]:
    """The table that searches on `problem` share, made if there is none; raises `Stopped` if the guard ends that."""
    ask(guard)
    with _lock:
        turn = _turns.get(id(problem)) or _Turn()
        _turns[id(problem)] = turn
    with turn.lock:
        ask(guard)
        table = _tables.get(id(problem))
        if table is None:
            table = table_of(problem, guard, classes_of(problem))
            _tables[id(problem)] = table
        return table


def table_of(problem: Problem, guard: Guard, classes: Classes | None) -> Table[Any]:
    """A new table, of the kind that fits, with the variables in the order of the classes."""
    if BinaryCosts.fits(problem):
        return BinaryCosts(problem, guard, classes=classes)
    return LocalCosts(problem, guard, classes=classes)


def _forget() -> None:
    """In a forked process nobody is left to open what was locked."""
    global _lock
    _lock = threading.Lock()
    _turns.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
