"""The part of the members that one of several workers runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dabp.errors import ParameterError
from dabp.solvers.auto.member import Kind
from dabp.solvers.auto.plan import SLIVER


def parse_share(text: str) -> tuple[int, int]:
    """``"2/4"``, the second of four, as a number from 0 and a count."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ParameterError(f'share says which of how many workers this is, as in "2/4", not {text!r}')
    return int(match[1]) - 1, int(match[2])


def shared_out(kinds: Sequence[Kind], worker: int, workers: int, threads: int = 1) -> list[Kind]:
    """The members of one worker, at least as many as it has threads, with their weights there.

    Members of more weight than a worker has, all being equal, are cut: a strong one is then run by several workers,
    with seeds of their own. The pieces go, heaviest first, to whoever has least so far: runs that take their time are
    worth more whole, and weak members share a worker.
    """
    piece = sum(kind.prior for kind in kinds) / workers
    pieces = [replace(kind, prior=part) for kind in kinds for part in _cut(kind.prior, piece)]
    loads, shares = [0.0] * workers, [dict[str, Kind]() for _ in range(workers)]
    for each in sorted(pieces, key=lambda kind: -kind.prior):
        lightest = min(range(workers), key=lambda place: (loads[place], place))
        held = shares[lightest].get(each.name)
        shares[lightest][each.name] = each if held is None else replace(each, prior=each.prior + held.prior)
        loads[lightest] += each.prior
    mine = shares[worker]
    others = sorted((kind for kind in kinds if kind.name not in mine), key=lambda kind: -kind.prior)
    return [*mine.values(), *others[: max(0, threads - len(mine))]]


def _cut(weight: float, piece: float) -> list[float]:
    """Whole pieces of a weight, and what is left if it is more than a sliver."""
    whole = int(weight / piece) if piece > 0 else 0
    left = weight - whole * piece
    return [piece] * whole + ([left] if left > SLIVER * piece or not whole else [])
