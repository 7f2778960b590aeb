"""Hard global functions of a problem that still hold, as they are, for what presolve leaves of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dabp.presolve.restriction import Restricted
from dabp.presolve.rule import Stage
from dabp.problem.columns import Indices
from dabp.problem.globals import AllDifferent, Posted

MOST_VALUES = 200_000
"""Values of an all-different beyond which no matching is searched for."""


def carried(statements: Sequence[Posted], stages: Sequence[Stage]) -> list[Posted]:
    """The hard statements on the variables and values that are left; one that has lost a variable is left out.

    They follow from the factors of the reduced problem, so they have none of their own.
    """
    kept = []
    for posted in statements:
        if posted.function.hard:
            moved: Posted | None = posted._replace(factors=())
            for stage in stages:
                moved = None if moved is None else _moved(moved, stage)
            if moved is not None and any(variable >= 0 for variable in moved.scope):
                kept.append(moved)
    return kept


def _moved(posted: Posted, stage: Stage) -> Posted | None:
    """The statement after a stage, None if a variable has become a function of others."""
    place = {variable: number for number, variable in enumerate(stage.variables.tolist())}
    scope, symbols = list[int](), list[Indices]()
    for variable, own in zip(posted.scope, posted.symbols, strict=True):
        if variable >= 0 and isinstance(stage, Restricted):
            own = own[stage.kept_values[stage.kept_starts[variable] : stage.kept_starts[variable + 1]]]
        if variable >= 0 and variable not in place and len(own) > 1:
            return None
        scope.append(place.get(variable, -1))
        symbols.append(own)
    return posted._replace(scope=tuple(scope), symbols=tuple(symbols))


def contradicts(posted: Posted) -> bool:
    """Whether no assignment at all satisfies an all-different: its arguments cannot be matched with symbols."""
    function = posted.function
    if not isinstance(function, AllDifferent) or not function.hard:
        return False
    if sum(map(len, posted.symbols)) > MOST_VALUES:
        return False
    rows = [own.tolist() for own in posted.symbols if not np.isin(own, function.excepted).any()]
    owner, taken = dict[int, int](), dict[int, int]()
    return not all(_matched(row, rows, owner, taken) for row in range(len(rows)))


def _matched(start: int, rows: list[list[int]], owner: dict[int, int], taken: dict[int, int]) -> bool:
    """Give an argument a symbol by a shortest path of exchanges; False if there is none.

    `owner` has the argument of each symbol, `taken` the symbol of each argument.
    """
    before: dict[int, int] = {}
    waiting = [start]
    for row in waiting:
        for symbol in rows[row]:
            if symbol in before:
                continue
            before[symbol] = row
            if symbol in owner:
                waiting.append(owner[symbol])
                continue
            while True:
                row = before[symbol]
                left = taken.get(row, symbol)
                owner[symbol], taken[row] = row, symbol
                if row == start:
                    return True
                symbol = left
    return False
