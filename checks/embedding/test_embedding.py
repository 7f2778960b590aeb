"""A solve gives the same answer wherever it is called from, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import psutil
import pytest

import dabp
from dabp.driver.result import Result
from dabp.problem import Problem
from dabp.solvers import SOLVERS

QUICK = ("bp", "tabu", "mbe", "neighbourhood")
"""One of each kind that needs no process and no network."""


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Small, and solved by none of them before its first iteration."""
    return dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=4)


def solved(problem: Problem, name: str) -> tuple[float | None, list[int]]:
    """What must be the same everywhere."""
    result = dabp.solve(problem, name, max_iterations=20, time_limit=30, seed=2)
    assert result.assignment is not None
    return result.cost, result.assignment.tolist()


def both(problem: Problem) -> list[tuple[float | None, list[int]]]:
    """All of `QUICK`, for another process."""
    return [solved(problem, name) for name in QUICK]


def test_threads_give_what_the_main_thread_gives(problem: Problem) -> None:
    """Twelve solves at a time, of solvers whose kernels release the lock."""
    expected = both(problem)
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda name: solved(problem, name), QUICK * 6))
    assert found == expected * 6


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_give_what_this_process_gives(problem: Problem, method: str) -> None:
    """Forked after kernels were used here, or spawned anew; the problem is sent by pickle."""
    expected = both(problem)
    if method == "fork" and threading.active_count() > 1:
        pytest.skip("threads of earlier tests: forking beside them is nobody's to promise")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(both, [problem] * 2)) == [expected] * 2


def test_an_event_loop_goes_on_while_solves_run_in_threads(problem: Problem) -> None:
    """``asyncio.to_thread`` solves beside a task that ticks."""
    expected = both(problem)

    async def solves() -> tuple[list[tuple[float | None, list[int]]], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        found = await asyncio.gather(*(asyncio.to_thread(solved, problem, name) for name in QUICK))
        ticking.cancel()
        return list(found), ticks

    found, ticks = asyncio.run(solves())
    assert found == expected
    assert ticks > 1


def test_a_solve_inside_a_running_loop_is_a_plain_call(problem: Problem) -> None:
    """As in a notebook: signal handlers of the loop are given back."""
    expected = solved(problem, "tabu")

    async def inside() -> tuple[float | None, list[int]]:
        return solved(problem, "tabu")

    assert asyncio.run(inside()) == expected


@pytest.mark.parametrize("first", ["import torch", "import torch; torch.set_num_threads(1)", "import numpy, numba"])
def test_the_order_of_imports_does_not_matter(problem: Problem, first: str) -> None:
    """After PyTorch, whose OpenMP may be another, too."""
    code = (
        f"{first}\nimport dabp\nproblem = dabp.generate('random-cop', variables=10, domain=3, density=0.5, seed=4)\n"
        "from checks.embedding.test_embedding import both\nprint(both(problem))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(both(problem))


def test_many_solves_leave_nothing_behind(problem: Problem) -> None:
    """Memory, threads, descriptors and children after 300 solves are those after 60."""
    process = psutil.Process()

    def holding() -> tuple[int, int, int]:
        gc.collect()
        return process.num_threads(), process.num_fds(), len(process.children(recursive=True))

    for _ in range(15):
        both(problem)
    before, resident = holding(), process.memory_info().rss
    for _ in range(60):
        both(problem)
    assert holding() == before
    assert process.memory_info().rss - resident < 20_000_000


@pytest.mark.parametrize("name", ["toulbar2", "auto", "dabp"])
def test_solvers_with_processes_and_threads_put_them_away(problem: Problem, name: str) -> None:
    """After the first solve has loaded what it needs, more of them add no thread, descriptor or child."""
    process = psutil.Process()
    counts = []
    for seed in range(5):
        dabp.solve(problem, name, time_limit=1.0, max_iterations=20 if name == "dabp" else None, seed=seed, threads=2)
        gc.collect()
        counts.append((process.num_threads(), process.num_fds(), len(process.children(recursive=True))))
    assert max(counts[2:]) <= max(counts[:2])


def test_problems_and_results_can_be_pickled(problem: Problem) -> None:
    """What comes back says the same, and a problem stays immutable."""
    named = problem.replace(name="n", variable_names=[f"v{i}" for i in range(10)], limit=1e6)
    again = pickle.loads(pickle.dumps(named))
    assert again == named
    assert again.facts.digest == named.facts.digest
    assert not any(
        column.flags.writeable for column in (again.pool, again.domain_sizes, again.scope_variables, again.factor_table)
    )
    result = dabp.solve(named, "tabu", max_iterations=20, seed=1)
    copy: Result = pickle.loads(pickle.dumps(result))
    assert copy.to_dict(named) == result.to_dict(named)
    assert np.array_equal(copy.trace.iteration_costs, result.trace.iteration_costs)
    assert copy.trace.improvements == result.trace.improvements


@pytest.mark.parametrize("name", SOLVERS)
def test_solver_objects_can_be_pickled(name: str) -> None:
    """They are sent to workers with restarts."""
    from dabp.solvers import make_solver

    solver = make_solver(name)
    assert pickle.loads(pickle.dumps(solver)) == solver


def test_a_solve_changes_nothing_of_its_program(problem: Problem) -> None:
    """Working folder, environment, NumPy's errors and random state, and warnings are as before."""
    np.random.seed(5)
    before = (os.getcwd(), dict(os.environ), np.geterr(), np.random.get_state()[1].tolist())
    both(problem)
    solved(problem, "dual")
    dabp.solve(problem, "dabp", max_iterations=10, seed=1)
    after = (os.getcwd(), dict(os.environ), np.geterr(), np.random.get_state()[1].tolist())
    assert after == before
