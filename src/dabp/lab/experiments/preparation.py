"""What a fork server does before its first run: import, and rehearse each solver so that kernels are loaded.

Loading a compiled kernel from Numba's cache takes longer than many a run. A server that has solved a tiny problem of
the same shape with the same solver hands the loaded kernels to all its children.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import dabp
from dabp.lab.experiments.plan import Run
from dabp.lab.generators import GENERATORS
from dabp.solvers import SOLVERS

STARTS_PROCESSES = frozenset({"toulbar2", "auto"})
"""Solvers with children or threads of their own: a process that forks must not have met them."""
REHEARSED = 25
"""Iterations of a rehearsal."""
FEW = 14
"""Variables of a rehearsal: enough for every family's parameters in the paper."""

MODEST = 100
"""Largest domain (or other size) of a rehearsal."""

Rehearsal = tuple[str, dict[str, Any], str, dict[str, Any]]


@dataclass(frozen=True)
class Preparation:
    """Modules to import, (solver, parameters, family, its parameters) to rehearse, and whose programs runs may be."""

    modules: list[str] = field(default_factory=list)
    rehearsals: list[Rehearsal] = field(default_factory=list)
    trust: list[str] = field(default_factory=list)
    """The modules that solvers of the user's own may come from."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a message."""
        return asdict(self)


def preparation_for(runs: Iterable[Run], trust: Sequence[str] = ()) -> Preparation:
    """The driver, the instances' readers and makers, and the plan's registered solvers; others come when they run."""
    runs = list(runs)
    registered = [run for run in runs if run.solver in SOLVERS]
    solvers = sorted({f"dabp.solvers.{SOLVERS[run.solver].module}" for run in registered})
    families = {run.instance.get("family") for run in runs}
    sources = {f"dabp.lab.generators.{GENERATORS[name]}" if name in GENERATORS else "dabp.formats" for name in families}
    rehearsals: dict[tuple[str, str, Any], Rehearsal] = {}
    for run in registered:
        if run.solver not in STARTS_PROCESSES and _is_modest(run.instance.get("parameters", {})):
            family, shape = run.instance.get("family", "random-cop"), dict(run.instance.get("parameters", {}))
            rehearsal = (run.solver, dict(run.parameters), family, {**shape, "variables": FEW})
            rehearsals.setdefault((run.solver, family, shape.get("domain")), rehearsal)
    return Preparation(
        ["dabp.driver.solve", "numpy.random", "numpy.ma", *sorted(sources), *solvers],
        list(rehearsals.values()),
        list(trust),
    )


def _is_modest(shape: Mapping[str, Any]) -> bool:
    """Whether few variables of this shape are a small problem, too: the server itself has no limit of memory."""
    sizes = (value for key, value in shape.items() if key not in ("variables", "max_cost"))
    return all(not isinstance(value, int | float) or value <= MODEST for value in sizes)


def prepare(modules: Iterable[str], rehearsals: Iterable[Rehearsal]) -> None:
    """Do it. What fails here fails again in the run that needs it, and is told there."""
    for module in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for solver, parameters, family, shape in rehearsals:
        with contextlib.suppress(Exception):
            problem = dabp.generate(family, **shape, seed=0)
            dabp.solve(problem, solver, params=parameters, max_iterations=REHEARSED, time_limit=1.0)
