"""One compiled table for all present searches on a problem, as the members of `auto` need the same one.

A table does not change; searches keep their states apart. It is freed with the last search on it.
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
    """The right to make a problem's table, which other threads wait for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_lock = threading.Lock()
_turns: WeakValueDictionary[int, _Turn] = WeakValueDictionary()
_tables: WeakValueDictionary[int, Table[Any]] = WeakValueDictionary()
"""By the `id` of the problem, which lives as long as the table."""


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
    """In a forked process no thread is left to release the locks."""
    global _lock
    _lock = threading.Lock()
    _turns.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
