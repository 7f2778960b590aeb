"""Others that work on the same problem at the same time: what a solve tells them and hears of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import safetensors
import safetensors.numpy

from dabp.driver.claims import ending
from dabp.driver.preparation import Preparation
from dabp.driver.running import RunningSolve
from dabp.driver.stopping import Ended, Progress
from dabp.errors import DabpError, SolverError
from dabp.problem import Assignment
from dabp.solvers.base import Search


@dataclass(frozen=True)
class Known:
    """What somebody knows: an assignment and a bound, in the problem's own direction."""

    assignment: Assignment | None = None
    bound: float | None = None

    def to_bytes(self) -> bytes:
        """Small and safe to load: values take a byte each where domains allow it."""
        arrays = {}
        if self.assignment is not None:
            least = np.min_scalar_type(int(self.assignment.max(initial=0)))
            arrays["assignment"] = np.ascontiguousarray(self.assignment, dtype=least)
        if self.bound is not None:
            arrays["bound"] = np.array([self.bound])
        data: bytes = safetensors.numpy.save(arrays)
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> Known:
        """What `to_bytes` made; `SolverError` if it is anything else."""
        try:
            arrays = safetensors.numpy.load(data)
            assignment, bound = arrays.get("assignment"), arrays.get("bound")
            if assignment is not None and assignment.dtype.kind not in "iu":
                raise ValueError("an assignment of no whole numbers")
            return cls(
                None if assignment is None else assignment.astype(np.int64).ravel(),
                None if bound is None else float(bound.item()),
            )
        except (safetensors.SafetensorError, ValueError, TypeError, KeyError) as error:
            raise SolverError(f"another worker told what cannot be read: {error}") from None


class Peers(Protocol):
    """Whom a solve exchanges what it knows with; asked after each block."""

    def exchange(self, progress: Progress) -> list[Known]:
        """Tell what is new here, hear what is new there."""

    @property
    def ended(self) -> bool:
        """Whether somebody has ended the solve for all."""


def hear(peers: Peers, search: Search, run: RunningSolve, prepared: Preparation) -> Ended | None:
    """Exchange with peers; what they found is costed here and offered to the search. The status if that proves all.

    A bound is believed as it is told: whoever told it is this program.
    """
    heard = peers.exchange(run.progress)
    for known in heard:
        if known.assignment is not None:
            _take(known.assignment, search, run, prepared)
        if known.bound is not None:
            run.tighten(run.sign * known.bound)
    status = ending(None, run) if heard else None
    return None if status is None else Ended(status)


def _take(told: Assignment, search: Search, run: RunningSolve, prepared: Preparation) -> None:
    try:
        assignment = run.problem.names.checked(told)
    except DabpError as error:
        raise SolverError(f"another worker told an assignment of another problem: {error}") from None
    cost, before = float(run.problem.cost(assignment)), run.progress.cost
    if before is not None and run.sign * cost >= run.sign * before:
        return
    run.offer(assignment, cost)
    projected = prepared.project(assignment)
    search.offer(projected, float(prepared.reduced.cost(projected)))
