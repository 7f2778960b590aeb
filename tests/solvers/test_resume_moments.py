"""Ended at any moment and resumed with the same limits, a solve is the one that was never ended.

Moments are the questions of all stages to the guard, where a signal is heard, and the writes of the checkpoint, after
which a kill may come. Limits lie just below, at and just above where the search ends by itself.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.driver.checkpoint import saving
from dabp.driver.interruption import Interruption
from dabp.driver.result import Result
from dabp.problem import Problem
from dabp.solvers import SOLVERS, make_solver

SAVED = [name for name in SOLVERS if make_solver(name).checkpoints and name != "auto"]
"""Not `auto`, whose members start anew from its best answer."""
VARIANTS = ("dabp-heter", "dabp-homo", "dabp-static")
"""The same search as another, and slow: only one limit of theirs."""
MOMENTS = 7
"""Of a solve, evenly spread over all."""


class Counting(Interruption):
    """Hears a signal at a question of a given number."""

    asked, signal_at = 0, sys.maxsize

    @property
    def requested(self) -> bool:
        """Whether it has come."""
        Counting.asked += 1
        return self._requested or Counting.asked >= Counting.signal_at

    @requested.setter
    def requested(self, value: bool) -> None:
        self._requested = value


@pytest.fixture(autouse=True)
def fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count questions, copy the state aside after every block, and make blocks as short as they can be."""
    monkeypatch.setattr(importlib.import_module("dabp.driver.solve"), "Interruption", Counting)
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    for name in list(sys.modules):
        if name.startswith("dabp.solvers"):
            for constant, least in (("BLOCK_SECONDS", 0.0), ("FIRST_BLOCK", 1)):
                if hasattr(sys.modules[name], constant):
                    monkeypatch.setattr(sys.modules[name], constant, least)


def run(problem: Problem, name: str, limit: int, signal_at: int = sys.maxsize, **options: Any) -> Result:
    """One solve, or the part of it up to the signal."""
    Counting.asked, Counting.signal_at = 0, signal_at
    given = {"seed": 3, "presolve": False, "time_limit": np.inf}
    return dabp.solve(problem, name, **{**given, "max_iterations": limit, **options})


def limits(problem: Problem, name: str) -> list[int]:
    """Around the end that the search comes to by itself, if it does."""
    most = 15 if name.startswith(("dabp", "gat-pcm")) else 60
    whole = run(problem, name, most)
    end = whole.iterations
    if whole.limit is not None or name in VARIANTS:
        return [most]
    return [limit for limit in (end - 1, end, end + 1) if limit > 0]


def facts_of(result: Result) -> dict[str, Any]:
    """All that a resumed solve has in common with the one that was not ended."""
    return {
        "status": result.status,
        "limit": result.limit,
        "cost": result.cost,
        "bound": result.bound,
        "iterations": result.iterations,
        "assignment": None if result.assignment is None else result.assignment.tolist(),
        "costs": result.trace.iteration_costs.tolist(),
    }


def some(count: int) -> list[int]:
    """Moments from 1 to `count`, the first and the last among them."""
    return sorted({int(each) for each in np.linspace(1, count, MOMENTS)})


def problems() -> Iterator[Problem]:
    """One on which the dual joins factors before it proves its answer, and a tree."""
    yield dabp.generate("random-cop", variables=12, domain=4, density=0.3, seed=6)
    yield dabp.generate("random-cop", variables=10, domain=3, density=0.2, seed=7)


@pytest.mark.parametrize("name", SAVED)
def test_interrupted_at_any_question(name: str, tmp_path: Path) -> None:
    """A signal heard by any stage ends the solve as interrupted, or as it ends anyway; what is saved goes on as if not.

    Without a file, which there is once a search has started, there is nothing to go on from.
    """
    for number, problem in enumerate(problems()):
        for limit in limits(problem, name):
            whole = facts_of(run(problem, name, limit))
            moments = range(1, Counting.asked + 1) if name == "dual" and limit < 60 else some(Counting.asked)
            for moment in moments:
                path = tmp_path / f"{number} {limit} {moment}"
                part = run(problem, name, limit, moment, checkpoint=path)
                assert part.status.name == "INTERRUPTED" or facts_of(part) == whole, (limit, moment)
                if path.exists():
                    again = run(problem, name, limit, checkpoint=path, resume=True)
                    assert facts_of(again) == whole, (limit, moment)


@pytest.mark.parametrize("name", SAVED)
def test_killed_after_any_write(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that ever lay there, the last one after the end of the solve too, goes on to the same end."""
    for number, problem in enumerate(problems()):
        for limit in limits(problem, name):
            path, copies = tmp_path / f"{number} {limit}", [tmp_path / "none"]

            def keep(_: object, path: Path = path, copies: list[Path] = copies) -> None:
                if path.exists():
                    copies.append(path.with_name(f"{path.name} {len(copies)}"))
                    shutil.copy(path, copies[-1])

            whole = facts_of(run(problem, name, limit))
            with monkeypatch.context() as often:
                often.setattr(saving, "SAVE_SECONDS", 0.0)
                assert facts_of(run(problem, name, limit, checkpoint=path, callbacks=[keep])) == whole
            copies.append(path)
            for moment in some(len(copies) - 1):
                again = run(problem, name, limit, checkpoint=copies[moment], resume=True)
                assert facts_of(again) == whole, (limit, moment)
