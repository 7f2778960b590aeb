"""Solvers that plans of the tests name as ``faults:Class``: a trivial one, and ones that misbehave."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from dataclasses import dataclass

import numpy as np
import psutil

from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status


class Draws(Search):
    """A random assignment per step, a few steps."""

    def __init__(self, problem: Problem, seed: int, steps: int, pause: float):
        self.problem, self.rng, self.left, self.pause = problem, generator(seed), steps, pause

    def step(self) -> Step:
        time.sleep(self.pause)
        self.left -= 1
        drawn = self.rng.integers(self.problem.domain_sizes)
        cost = float(self.problem.cost(drawn))
        records = [{"restart": 0, "iterations": 3, "converged": True}] if self.left <= 0 else []
        finished = Status.CONVERGED if self.left <= 0 else None
        return Step(np.array([cost]), drawn, cost, finished=finished, records=records)


@dataclass(frozen=True, kw_only=True)
class Trivial(Solver):
    """Draws `steps` assignments, `pause` seconds apart."""

    steps: int = 3
    pause: float = 0.0

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        return Draws(problem, seed, self.steps, self.pause)


class Misbehaving(Search):
    def __init__(self, how: str):
        self.how = how

    def step(self) -> Step:
        hoard = []
        while self.how == "allocate":
            hoard.append(np.ones(4_000_000))
        while self.how == "hang":
            time.sleep(1)
        if self.how == "crash":
            ctypes.string_at(0)
        if self.how == "told to stop":
            os.kill(os.getpid(), signal.SIGTERM)
            return Step()
        if self.how == "environment":
            raise RuntimeError(f"{os.environ['OMP_NUM_THREADS']} {os.environ['DABP_TEST']}")
        if self.how == "tensors":
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        if self.how == "kill the machine":
            server = psutil.Process().parent()
            assert server is not None
            os.kill(server.ppid(), signal.SIGKILL)
            time.sleep(60)
        raise RuntimeError("broken on purpose")


@dataclass(frozen=True, kw_only=True)
class Fault(Solver):
    """Misbehaves in the way that `how` names."""

    how: str = "hang"

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        return Misbehaving(self.how)
