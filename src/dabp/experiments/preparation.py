"""What a fork server does before its first run: import, and rehearse each solver so that kernels are loaded.

Loading a compiled kernel from Numba's cache takes longer than many a run. A server that has solved a tiny problem of
the same shape with the same solver hands the loaded kernels to all its children.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import dabp
from dabp.experiments.plan import Run
from dabp.generators import GENERATORS
from dabp.solvers import SOLVERS

STARTS_PROCESSES = frozenset({"toulbar2", "auto"})
"""Solvers with children or threads of their own: a process that forks must not have met them."""
REHEARSED = 25
"""Iterations of a rehearsal."""


@dataclass(frozen=True)
class Preparation:
    """Modules to import, and (solver, parameters, domain size) to rehearse."""

    modules: list[str] = field(default_factory=list)
    rehearsals: list[tuple[str, dict[str, Any], int]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a message."""
        return asdict(self)


def preparation_for(runs: Iterable[Run]) -> Preparation:
    """The driver, the instances' readers and makers, and the plan's registered solvers; others come when they run."""
    runs = list(runs)
    registered = [run for run in runs if run.solver in SOLVERS]
    solvers = sorted({f"dabp.solvers.{SOLVERS[run.solver].module}" for run in registered})
    families = {run.instance.get("family") for run in runs}
    sources = {f"dabp.generators.{GENERATORS[name]}" if name in GENERATORS else "dabp.formats" for name in families}
    rehearsals: dict[tuple[str, int], dict[str, Any]] = {}
    for run in registered:
        if run.solver not in STARTS_PROCESSES:
            rehearsals.setdefault((run.solver, _domain(run)), dict(run.parameters))
    return Preparation(
        ["dabp.solving", "numpy.random", "numpy.ma", *sorted(sources), *solvers],
        [(solver, parameters, domain) for (solver, domain), parameters in rehearsals.items()],
    )


def prepare(modules: Iterable[str], rehearsals: Iterable[tuple[str, dict[str, Any], int]]) -> None:
    """Do it. What fails here fails again in the run that needs it, and is told there."""
    for module in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for solver, parameters, domain in rehearsals:
        with contextlib.suppress(Exception):
            problem = dabp.generate("random-cop", variables=5, domain=domain, density=0.8, seed=0)
            dabp.solve(problem, solver, params=parameters, max_iterations=REHEARSED, time_limit=1.0)


def _domain(run: Run) -> int:
    """The instance's domain size, as far as the plan tells."""
    defaults = {"graph-coloring": 5}
    family = run.instance.get("family", "")
    size = run.instance.get("parameters", {}).get("domain", defaults.get(family, 15))
    return min(int(size), 50) if isinstance(size, int) else 15
