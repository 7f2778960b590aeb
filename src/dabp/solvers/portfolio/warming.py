"""Compiling kernels before they are needed, in processes of their own, and knowing which are there.

A *job* makes the kernels of one family of methods by running them on small problems of every kind that they tell
apart: single and double precision, vectors of both lengths, binary and larger factors, forbidden combinations, two
values. When it is done, a file in the cache says so for this version of the sources, this Numba and this processor;
``ready`` asks for it. Whoever finds a job missing can have it made beside a running solve (`Compiler`), or make all
at once (``dabp doctor --compile``).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.registry import make_solver

ITERATIONS = 12
"""Of each small solve; enough for every kernel to be called."""

COMMAND = [sys.executable, "-c", f"import sys; from {__name__} import main; main(sys.argv[1:])"]
"""Runs `main` with the names of jobs in a process of its own."""

PARENT_SECONDS = 0.5
"""How often a compiling process looks whether its parent is still there."""


def _drawn(
    domain: int, *, seed: int = 0, ternary: bool = False, forbidden: bool = False, real: bool = False
) -> Problem:
    """A small connected problem with a cycle, unary factors and whatever was asked for."""
    rng = np.random.default_rng(0)
    count = 6
    scopes: list[tuple[int, ...]] = [(i,) for i in range(count)]
    scopes += [(i, j) for i in range(count) for j in range(i)]
    scopes += [(0, 2, 4), (1, 3, 5)] if ternary else []
    tables = []
    for scope in scopes:
        table = rng.integers(0, 50, (domain,) * len(scope)).astype(float)
        table += rng.random(table.shape) if real else 0.0
        if forbidden and len(scope) > 1:
            table[(0,) * len(scope)] = np.inf
        tables.append((scope, table))
    return Problem.from_tables([domain] * count, tables)


def _mixed() -> Problem:
    """Domains of different sizes, up to more than a vector is long."""
    rng = np.random.default_rng(1)
    sizes = [2, 3, 20, 5, 9]
    scopes = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3), (0, 2, 4)]
    return Problem.from_tables(sizes, [(s, rng.integers(0, 9, [sizes[v] for v in s]) * 1.0) for s in scopes])


def _kinds() -> list[Problem]:
    """A problem of every kind that kernels tell apart."""
    return [
        _drawn(3, ternary=True),
        _drawn(12, ternary=True),
        _drawn(4, forbidden=True, ternary=True),
        _drawn(4, real=True),
        _drawn(2),
        _drawn(2, real=True),
        _mixed(),
    ]


def _run(names: Iterable[str], **params: object) -> None:
    """Run solvers for some iterations on every kind of problem, from scratch, from a start and with two threads."""
    for name in names:
        for problem in _kinds():
            for threads in (1, 2):
                solver = make_solver(name, params)
                budget = Budget(max_iterations=ITERATIONS, threads=threads)
                search = solver.start(problem, seed=0, budget=budget, initial=np.zeros(problem.num_variables, np.int64))
                try:
                    done = 0
                    while done < ITERATIONS:
                        step = search.step()
                        done += max(1, len(step.costs))
                        if step.finished is not None:
                            break
                finally:
                    search.close()


def _presolve() -> None:
    from dabp.presolve import presolve

    for problem in _kinds():
        presolve(problem)
    chain = [((i, i + 1), np.arange(9.0).reshape(3, 3)) for i in range(6)]
    presolve(Problem.from_tables([3] * 7, chain))


def _annealing() -> None:
    """Annealing, and the descent that the portfolio's first answer is made by."""
    from dabp.problem.guard import Guard
    from dabp.solvers.portfolio.first_answer import descended

    for problem in _kinds():
        descended(problem, np.zeros(problem.num_variables, dtype=np.int64), Guard())
    _run(["annealing"])


def _deep() -> None:
    """DABP in both precisions."""
    _run(["dabp"])
    _run(["dabp"], dtype="float64")


JOBS: dict[str, Callable[[], None]] = {
    "annealing": _annealing,
    "tabu": lambda: _run(["tabu"]),
    "bp": lambda: _run(["bp", "dbp-scfg", "bp-reinforced"]),
    "dual": lambda: _run(["dual"]),
    "expansion": lambda: _run(["expansion"]),
    "presolve": _presolve,
    "elimination": lambda: _run(["mbe"]),
    "forest-lns": lambda: _run(["forest-lns"]),
    "distributed": lambda: _run(["dsa", "mgm", "mgm2", "gdba"]),
    "dabp": _deep,
    "gat-pcm-lns": lambda: _run(["gat-pcm-lns"]),
}
"""What there is to compile, in the order in which it helps a solve that waits for it."""


@functools.cache
def stamp() -> str:
    """Names this version of all kernels, of Numba, of Python and of the processor."""
    from dabp.kernels import cache

    sha = hashlib.sha256()
    for path in sorted(cache.ROOT.rglob("*.py")):
        sha.update(path.read_bytes())
    numba = importlib.metadata.version("numba")
    sha.update(repr((numba, sys.version_info[:3], platform.machine(), _processor())).encode())
    return sha.hexdigest()[:16]


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("flags"):
                return line
    return platform.processor()


def _marker(job: str) -> Path:
    from dabp.kernels.cache import folder

    return folder() / "ready" / f"{job}-{stamp()}"


def ready(job: str) -> bool:
    """Whether the kernels of a job are in the cache."""
    return _marker(job).exists()


def missing(jobs: Iterable[str] = JOBS) -> list[str]:
    """Those jobs that are not done yet, in their order."""
    wanted = set(jobs)
    return [job for job in JOBS if job in wanted and not ready(job)]


def make(job: str) -> None:
    """Do a job here and now, unless another process is at it, which is then waited for."""
    from dabp.kernels.cache import locked

    marker = _marker(job)
    marker.parent.mkdir(parents=True, exist_ok=True)
    with locked(marker.with_suffix(".lock")):
        if not marker.exists():
            JOBS[job]()
            marker.touch()


class Compiler:
    """A child process that does jobs one after the other; it ends with this process, and keeps what it has made."""

    def __init__(self, jobs: Iterable[str]):
        from dabp.kernels.cache import folder

        self._waiting = list(jobs)
        self._asked = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        if self._waiting:
            self._process = subprocess.Popen(
                [*COMMAND, *self._waiting],
                env={**os.environ, "DABP_CACHE_DIR": str(folder()), "DABP_PARENT": str(os.getpid())},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the parent, which ends it
            )

    def waiting(self) -> list[str]:
        """The jobs that are not done yet, looked at ten times a second at most."""
        now = time.monotonic()
        if self._waiting and now - self._asked > 0.1:
            self._asked = now
            self._waiting = missing(self._waiting)
        return self._waiting

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End the process; what it has compiled is kept."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def make_all(progress: Callable[[int, int], None], processes: int | None = None) -> list[str]:
    """Do every job that is missing, each in a process, as many at a time as there are cores.

    `progress` is told how many of all jobs are done whenever one more is; the names of those that failed come back.
    """
    from dabp.kernels.cache import folder, throw_away_unused

    throw_away_unused()
    waiting, failed = missing(), []
    running: dict[str, subprocess.Popen[bytes]] = {}
    most = processes or os.cpu_count() or 1
    environment = {**os.environ, "DABP_CACHE_DIR": str(folder())}
    try:
        while waiting or running:
            progress(len(JOBS) - len(waiting) - len(running), len(JOBS))
            while waiting and len(running) < most:
                job = waiting.pop(0)
                running[job] = subprocess.Popen([*COMMAND, job], env=environment, stdout=subprocess.DEVNULL)
            time.sleep(0.05)
            for job, process in list(running.items()):
                if process.poll() is not None:
                    del running[job]
                    failed += [job] if process.returncode else []
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    progress(len(JOBS) - len(failed), len(JOBS))
    return failed


def _end_with_parent(parent: int) -> None:
    """Leave as soon as the process that asked for the jobs is gone."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


def main(jobs: list[str]) -> None:
    """Do the named jobs; beside a solve with what it leaves of the cores."""
    if parent := os.environ.get("DABP_PARENT"):
        if hasattr(os, "nice"):
            os.nice(5)
        threading.Thread(target=_end_with_parent, args=(int(parent),), daemon=True).start()
    for job in jobs:
        make(job)
