"""Where scratch lies changes no digit of what kernels add up."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.dabp.thread_shares import Job, Parts, Threads

LIBRARY = ctypes.CDLL(None)


@pytest.fixture
def heap() -> Iterator[Any]:
    """Changes where the next small blocks lie: far apart in holes, or side by side where there are no holes."""
    if not hasattr(LIBRARY, "malloc"):
        pytest.skip("no C library to ask for memory")
    LIBRARY.malloc.restype, LIBRARY.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    LIBRARY.free.argtypes = [ctypes.c_void_p]
    held: list[int] = []
    rng = np.random.default_rng(0)

    def change(apart: bool) -> None:
        if apart:
            held.extend(LIBRARY.malloc(int(size)) for size in rng.integers(16, 1200, size=200))
            rng.shuffle(held)
            while len(held) > 200:
                LIBRARY.free(held.pop())
        else:
            held.extend(LIBRARY.malloc(size) for size in range(16, 1300, 16) for _ in range(8))

    yield change
    for block in held:
        LIBRARY.free(block)


def copied(given: Any) -> Any:
    """Arrays within tuples, copied."""
    if isinstance(given, np.ndarray):
        return given.copy()
    if isinstance(given, tuple):
        parts = [copied(each) for each in given]
        return type(given)(*parts) if hasattr(given, "_fields") else tuple(parts)
    return given


def numbers(given: Any) -> bytes:
    """All floating numbers in there."""
    if isinstance(given, np.ndarray):
        return given.tobytes() if given.dtype.kind == "f" else b""
    return b"".join(map(numbers, given)) if isinstance(given, tuple) else b""


def calls(monkeypatch: pytest.MonkeyPatch, interval: int, variables: int, domain: int) -> list[Job]:
    """The first and last call of each kernel in a window of DABP, with what it was given."""
    seen: dict[Any, list[Job]] = {}
    run = Threads.run

    def noted(self: Threads, *jobs: Job) -> None:
        for job in jobs:
            seen.setdefault(job.kernel, []).append(job._replace(arguments=copied(job.arguments)))
        run(self, *jobs)

    monkeypatch.setattr(Threads, "run", noted)
    problem = dabp.generate("random-cop", variables=variables, domain=domain, density=0.9, seed=3)
    params = {"update_interval": 4, "network_interval": interval, "tolerance": 0.0}
    search = make_solver("dabp", params).start(problem, seed=0, budget=Budget())
    search.step()
    while not search.at_boundary:
        search.step()
    search.close()
    monkeypatch.setattr(Threads, "run", run)
    return [job for jobs in seen.values() for job in (jobs[0], jobs[-1])]


def result(parts: Parts, kernel: Any, arguments: tuple[Any, ...]) -> bytes:
    """What a call leaves in its arguments."""
    given = copied(arguments)
    for first, last in parts:
        kernel(first, last, *given)
    return numbers(given)


@pytest.mark.parametrize(("variables", "domain"), [(12, 9), (5, 40), (16, 8)])
@pytest.mark.parametrize("interval", [1, 3])
def test_sums_do_not_depend_on_where_memory_lies(
    monkeypatch: pytest.MonkeyPatch, heap: Any, interval: int, variables: int, domain: int
) -> None:
    """Every kernel of DABP gives the same bits wherever the heap puts its scratch."""
    for job in calls(monkeypatch, interval, variables, domain):
        first = result(*job)
        for turn in range(8):
            heap(turn % 2 == 0)
            assert result(*job) == first, job.kernel
