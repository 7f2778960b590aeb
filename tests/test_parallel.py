"""Restarts over executors: the best of them, whoever runs them, within the time given."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import dabp
from dabp.errors import ParameterError, SolverError
from dabp.parallel import restart_seeds, solve_restarts
from dabp.result import Status

sys.path.insert(0, str(Path(__file__).parent / "experiments"))

from faults import Fault, Trivial


@pytest.fixture(scope="module")
def problem():
    return dabp.generate("random-cop", variables=10, domain=4, density=0.4, seed=1)


def test_the_best_of_all_restarts_comes_back(problem):
    """Against solving each seed by itself; the executor changes nothing."""
    costs = [dabp.solve(problem, Trivial(), seed=seed).cost for seed in restart_seeds(3, 6)]
    with ThreadPoolExecutor(2) as executor:
        result = solve_restarts(problem, Trivial(), restarts=6, executor=executor, seed=3)
    assert result.cost == min(costs) == problem.cost(result.assignment)
    assert (result.iterations, result.seed, result.status) == (18, 3, Status.CONVERGED)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as executor:
        again = solve_restarts(problem, Trivial(), restarts=6, executor=executor, seed=3)
    assert again.assignment.tolist() == result.assignment.tolist()


def test_one_restart_is_a_plain_solve(problem):
    """The first restart has the seed itself."""
    assert restart_seeds(5, 3)[0] == 5
    assert len(set(restart_seeds(5, 100))) == 100


def test_the_time_is_for_all_of_them(problem):
    """One worker, many slow restarts: those that come too late are skipped."""
    slow = Trivial(steps=1000, pause=0.01)
    started = time.perf_counter()
    with ThreadPoolExecutor(1) as executor:
        result = solve_restarts(problem, slow, restarts=20, executor=executor, time_limit=0.5)
    assert time.perf_counter() - started < 5
    assert result.cost is not None
    assert any("of 20 restarts ended" in note for note in result.notes)


def test_a_lost_worker_loses_only_its_restart(problem):
    """A pool that breaks gives the rest; if all are lost there is an error, not an empty answer."""

    class Breaking(ThreadPoolExecutor):
        def submit(self, function, *arguments):
            if arguments[3] == restart_seeds(0, 3)[1]:
                lost = concurrent.futures.Future()
                lost.set_exception(OSError("worker killed"))
                return lost
            return super().submit(function, *arguments)

    with Breaking(1) as executor:
        result = solve_restarts(problem, Trivial(), restarts=3, executor=executor)
    assert any("worker killed" in note for note in result.notes)
    with ThreadPoolExecutor(1) as executor, pytest.raises(SolverError, match="broken on purpose"):
        solve_restarts(problem, Fault(how="raise"), restarts=2, executor=executor)
    with pytest.raises(ParameterError, match="at least 1"):
        solve_restarts(problem, Trivial(), restarts=0, executor=executor)


def test_dask_is_an_executor(problem):
    """A Dask client's executor runs restarts, and goes on when a worker is killed."""
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(sys.path.append, str(Path(__file__).parent / "experiments"))
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        executor = client.get_executor(retries=3)
        result = solve_restarts(problem, Trivial(), restarts=4, executor=executor, seed=3)
    costs = [dabp.solve(problem, Trivial(), seed=seed).cost for seed in restart_seeds(3, 4)]
    assert result.cost == min(costs)
