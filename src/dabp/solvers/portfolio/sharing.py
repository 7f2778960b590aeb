"""The part of the members that one of several workers runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dabp.errors import ParameterError
from dabp.solvers.portfolio.member import Kind
from dabp.solvers.portfolio.plan import SLIVER


def parse_share(text: str) -> tuple[int, int]:
    """``"2/4"``, the second of four, as a number from 0 and a count."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ParameterError(f'share says which of how many workers this is, as in "2/4", not {text!r}')
    return int(match[1]) - 1, int(match[2])


def shared_out(kinds: Sequence[Kind], worker: int, workers: int, threads: int = 1) -> list[Kind]:
    """The members of one worker, at least as many as it has threads, with their weights there.

    Laid end to end by weight, the strongest first, the members are cut into equal pieces, one a worker: a strong member
    is then run by several, with seeds of their own, and weak ones share a worker.
    """
    ordered = sorted(kinds, key=lambda kind: -kind.prior)
    piece = sum(kind.prior for kind in ordered) / workers
    begin, mine, rest, end = worker * piece, [], [], 0.0
    for kind in ordered:
        start, end = end, end + kind.prior
        overlap = min(end, begin + piece) - max(start, begin)
        if overlap > SLIVER * piece or overlap >= kind.prior > 0:
            mine.append(replace(kind, prior=overlap))
        else:
            rest.append((abs((start + end) / 2 - begin - piece / 2), kind))
    for _, kind in sorted(rest, key=lambda each: each[0])[: max(0, threads - len(mine))]:
        mine.append(kind)
    return mine
