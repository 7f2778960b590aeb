"""Exchange of assignments and bounds with other solves of the same problem that run at the same time."""

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
    """An assignment and a bound that another solve knows, in the problem's own direction."""

    assignment: Assignment | None = None
    bound: float | None = None

    def to_bytes(self) -> bytes:
        """The bytes of a safetensors file, with value indices in the smallest integer type."""
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
        """Read the bytes of `to_bytes`; `SolverError` for others."""
        try:
            arrays = safetensors.numpy.load(data)
            assignment, bound = arrays.get("assignment"), arrays.get("bound")
            if assignment is not None and assignment.dtype.kind not in "iu":
                raise ValueError("its assignment has values that are no whole numbers")
            return cls(
                None if assignment is None else assignment.astype(np.int64).ravel(),
                None if bound is None else float(bound.item()),
            )
        except (safetensors.SafetensorError, ValueError, TypeError, KeyError) as error:
            raise SolverError(f"another worker sent what cannot be read: {error}") from None


class Peers(Protocol):
    """The other solves, with which the driver exchanges knowledge after each block."""

    def exchange(self, progress: Progress) -> list[Known]:
        """Send what is new in `progress`; returns what is new elsewhere."""

    @property
    def ended(self) -> bool:
        """Whether the solve has ended for all."""


def exchange(peers: Peers, search: Search, run: RunningSolve, prepared: Preparation) -> Ended | None:
    """Exchange with peers and offer their assignments to the search; returns why the solve has ended, if it has.

    Costs are computed here; bounds are believed.
    """
    received = peers.exchange(run.progress)
    for known in received:
        if known.assignment is not None:
            _take(known.assignment, search, run, prepared)
        if known.bound is not None:
            run.tighten(run.sign * known.bound)
    status = ending(None, run) if received else None
    return None if status is None else Ended(status)


def _take(received: Assignment, search: Search, run: RunningSolve, prepared: Preparation) -> None:
    try:
        assignment = run.problem.names.checked(received)
    except DabpError as error:
        raise SolverError(f"another worker sent an assignment of another problem: {error}") from None
    cost, before = float(run.problem.cost(assignment)), run.progress.cost
    if before is not None and run.sign * cost >= run.sign * before:
        return
    run.offer(assignment, cost)
    projected = prepared.project(assignment)
    search.offer(projected, float(prepared.reduced.cost(projected)))
