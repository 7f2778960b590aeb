"""`auto` on grids of 1000×1000, 20 s and two threads, beside reinforced belief propagation alone with 60 s."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import dabp
from benchmarks.scale.problems import KINDS
from benchmarks.scale.records import peak_gigabytes

CONTESTANTS = {"auto": 20.0, "bp-reinforced": 60.0}


def measurements() -> Iterator[dict[str, Any]]:
    """Both kinds of grids by both."""
    for kind in ("grid", "potts"):
        for solver, seconds in CONTESTANTS.items():
            yield {"kind": kind, "variables": 10**6, "solver": solver, "seconds": seconds}


def measured(kind: str, variables: int, solver: str, seconds: float) -> dict[str, Any]:
    """Cost for each pair, wall clock of the call, memory of the process, and what was found when."""
    problem = KINDS[kind](variables)
    dabp.solve(KINDS[kind](2500), solver, time_limit=1.0, threads=2)  # loads kernels
    before = peak_gigabytes()
    started = time.perf_counter()
    result = dabp.solve(problem, solver, time_limit=seconds, threads=2)
    wall = time.perf_counter() - started
    improvements = [(round(at, 2), cost) for at, _, cost in result.trace.improvements]
    step = max(1, len(improvements) // 20)
    return {
        "cost": result.cost,
        "bound": result.bound,
        "per_pair": round(float(result.cost or 0.0) / problem.facts.num_constraints, 4),
        "wall": round(wall, 2),
        "before": round(before, 2),
        "gigabytes": round(peak_gigabytes(), 2),
        "improvements": improvements[::step][-25:] + improvements[-1:],
        "notes": list(result.notes),
    }
