"""A small experiment that tests of experiments and of their commands read, and what they share."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dabp.lab.experiments.experiment_plan import Plan, load_plan
from dabp.lab.experiments.run_plan import run_plan as run_any_plan

run_plan = functools.partial(run_any_plan, trust=["faults"])
"""The solvers of these tests are a module of their own."""

VARYING = {"runtime", "generation_time", "wall", "cpu", "peak_memory", "time"}
"""What may differ between two runs of the same run."""

TRIVIAL = '[[solvers]]\nlabel = "trivial"\nsolver = "faults:Trivial"\nparameters = { pause = 0.01 }\n'

SLOW = '[[solvers]]\nsolver = "faults:Trivial"\nparameters = { pause = 20.0 }\n'

SMALL = """
name = "small"
title = "A small experiment"
seed = 7
figures = ["cost-iterations", "cost-time", "convergence", "sweep", "tuning-time", "ablation", "memory"]

[limits]
iterations = 200
wall = 30

[[instances]]
label = "Random COPs"
family = "random-cop"
seeds = 6
parameters = { variables = 8, domain = 3, density = 0.5 }

[[instances]]
label = "Colouring"
family = "graph-coloring"
seeds = [4, 5, 6]
parameters = { variables = 8, domain = 3, density = 0.5 }

[[solvers]]
label = "short"
solver = "faults:Trivial"
parameters = { steps = 2 }

[[solvers]]
label = "long"
solver = "faults:Trivial"
sweep = { steps = [10, 100] }

[[solvers]]
label = "broken"
solver = "faults:Fault"
parameters = { how = "raise" }
"""


def make_plan(folder: Path, seeds: int, solvers: str, limits: str = "iterations = 50\nwall = 60") -> Plan:
    """A plan of `seeds` tiny instances."""
    path = folder / "plan.toml"
    path.write_text(
        f'seed = 5\n[limits]\n{limits}\n[[instances]]\nlabel = "tiny"\nfamily = "random-cop"\nseeds = {seeds}\n'
        f"parameters = {{ variables = 6, domain = 3, density = 0.5 }}\n{solvers}"
    )
    return load_plan(path)


def contents(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Every result, times aside; fails on a corrupt line."""
    found = {}
    for path in (folder / "runs").glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert rows[0]["key"] == path.stem
        found[path.stem] = [{k: v for k, v in row.items() if k not in VARYING} for row in rows]
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Until it holds; a test that waits in vain fails."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def stop(state: Any) -> None:
    """A callback that interrupts after the first result."""
    if state.done:
        raise KeyboardInterrupt


def refuse(*args: Any, **kwargs: Any) -> None:
    """A system call that fails."""
    raise OSError(11, "Resource temporarily unavailable")
