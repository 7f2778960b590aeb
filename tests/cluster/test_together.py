"""One solve by several workers that share what they find, on a process pool and on Dask, with workers that die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.cluster.board import FolderBoard
from dabp.cluster.together import Task
from dabp.errors import ParameterError, SolverError
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status

sys.path.insert(0, str(Path(__file__).parents[1] / "lab" / "experiments"))

from faults import Draws, Fault, Trivial


@pytest.fixture(scope="module")
def problem():
    return dabp.generate("random-cop", variables=10, domain=4, density=0.4, seed=1)


class Revealing(Search):
    """Gives one assignment at its first step, then waits; with `fatal` its process dies a while later."""

    def __init__(self, problem: Problem, known: tuple[int, ...], fatal: str):
        self._problem, self._known, self._fatal = problem, np.array(known), fatal
        self._began = time.monotonic()

    def step(self) -> Step:
        """The same again and again."""
        time.sleep(0.02)
        marker = Path(self._fatal) if self._fatal else None
        if marker is not None and time.monotonic() - self._began > 1.0:
            try:
                marker.touch(exist_ok=False)  # only the first to come here dies
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        cost = float(self._problem.cost(self._known))
        return Step(np.array([cost]), self._known, cost)


@dataclass(frozen=True, kw_only=True)
class Knowing(Solver):
    """The worker with this seed knows a good assignment, and dies of it; the others draw."""

    known: tuple[int, ...] = ()
    seed: int = 0
    fatal: str = ""

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """By seed."""
        return Revealing(problem, self.known, self.fatal) if seed == self.seed else Draws(problem, seed, 10**6, 0.02)


def _optimum(problem):
    return tuple(dabp.solve(problem).assignment.tolist())


def _pool():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def test_a_process_pool_shares_and_survives_a_death(problem, tmp_path):
    """The first worker finds the optimum and is killed: it is still the answer, and the rest goes on without it."""
    best = _optimum(problem)
    solver = Knowing(known=best, seed=3, fatal=str(tmp_path / "died"))
    seen = []
    with _pool() as executor:
        result = dabp.solve_together(
            problem,
            solver,
            executor=executor,
            workers=2,
            time_limit=5,
            seed=3,
            callbacks=[lambda progress: seen.append(progress.cost)],
        )
    assert (tmp_path / "died").exists(), "the worker did die"
    assert result.cost == problem.cost(np.array(best))
    assert result.status is Status.LIMIT
    assert any("was lost" in note for note in result.notes)
    assert result.cost in seen, "the caller saw it while they worked"
    assert result.trace.improvements[-1][2] == result.cost


def test_a_pool_ends_although_the_others_have_large_answers(tmp_path):
    """What those have to tell that are left when one has died fills a pipe that nobody reads: they must not wait."""
    problem = dabp.generate("ising", row_count=150, col_count=150, seed=1)
    solver = Knowing(known=(0,) * problem.num_variables, seed=3, fatal=str(tmp_path / "died"))
    with _pool() as executor:
        result = dabp.solve_together(problem, solver, executor=executor, workers=2, time_limit=5, seed=3)
    assert (tmp_path / "died").exists(), "the worker did die"
    assert result.cost is not None


def test_dask_shares_and_survives_a_death(problem, tmp_path):
    """The same call on a cluster, whose scheduler gives the lost share to another worker."""
    import distributed

    best = _optimum(problem)
    solver = Knowing(known=best, seed=3, fatal=str(tmp_path / "died"))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(sys.path.append, str(Path(__file__).parent))
        result = dabp.solve_together(problem, solver, executor=client, workers=2, time_limit=3, seed=3)
        assert (tmp_path / "died").exists()
        assert result.cost == problem.cost(np.array(best))
        again = dabp.solve_together(problem, executor=client.get_executor(), workers=2, time_limit=5)
        assert again.status is Status.OPTIMAL
        assert again.cost == result.cost


def test_threads_hear_of_each_other(problem):
    """What one knows all know: a worker that draws at random ends at the target that another reaches."""
    best = _optimum(problem)
    target = float(problem.cost(np.array(best)))
    with ThreadPoolExecutor(2) as executor:
        result = dabp.solve_together(
            problem, Knowing(known=best, seed=3), executor=executor, workers=2, time_limit=20, seed=3, target=target
        )
    assert (result.status, result.limit, result.cost) == (Status.LIMIT, "target cost", target)
    assert result.runtime < 15


def test_a_proof_ends_all(problem):
    """Auto proves a small problem in one worker; the other is told."""
    with ThreadPoolExecutor(2) as executor:
        result = dabp.solve_together(problem, executor=executor, workers=2, time_limit=30)
    assert result.status is Status.OPTIMAL
    assert result.cost == dabp.solve(problem).cost
    assert result.values == problem.names.labelled(result.assignment)


def test_maximisation_and_infeasibility(problem):
    """Costs and bounds in the problem's own direction; what has no answer is told so."""
    largest = problem.replace(maximize=True)
    with ThreadPoolExecutor(2) as executor:
        result = dabp.solve_together(largest, executor=executor, workers=2, time_limit=30)
        assert (result.status, result.cost) == (Status.OPTIMAL, dabp.solve(largest).cost)
        model = dabp.Model()
        first, second = model.add_variable("a", 2), model.add_variable("b", 2)
        model.add_cost([first, second], np.full((2, 2), np.inf))
        result = dabp.solve_together(model, executor=executor, workers=2, time_limit=30)
    assert result.status is Status.INFEASIBLE
    assert result.cost is None


def test_an_interrupt_ends_all_with_what_is_known(problem):
    """By a callback here; signals go the same way."""
    with ThreadPoolExecutor(2) as executor:
        result = dabp.solve_together(
            problem,
            Trivial(steps=10**6, pause=0.02),
            executor=executor,
            workers=2,
            time_limit=60,
            callbacks=[lambda progress: progress.cost is not None],
        )
    assert result.status is Status.INTERRUPTED
    assert result.cost is not None
    assert result.runtime < 50


def test_workers_that_all_fail_are_an_error_and_mistakes_are_told(problem):
    """What goes wrong in workers is raised here in one sentence, and nothing is left behind."""
    before = threading.active_count()
    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(SolverError, match="broken on purpose"):
            dabp.solve_together(problem, Fault(how="raise"), executor=executor, workers=2, time_limit=5)
        for mistake, words in (
            ({"workers": 0}, "at least 1"),
            ({"workers": 10**6}, "at most 10,000"),
            ({"time_limit": float("inf")}, "need a time limit"),
            ({"time_limit": -1.0}, "time"),
            ({"checkpoint": "x"}, "has no argument 'checkpoint'"),
            ({"executor": 3}, "not int"),
            ({"solver": "no-such"}, "no-such"),
        ):
            options = {"executor": executor, "workers": 2, "time_limit": 5.0, "solver": Trivial(), **mistake}
            with pytest.raises(ParameterError, match=words):
                dabp.solve_together(problem, **options)
    assert threading.active_count() <= before


def test_a_pool_that_is_broken_before_is_replaced(problem):
    """Its processes died before this solve: that is as if they died now."""
    with _pool() as executor:
        with pytest.raises(BrokenProcessPool):
            executor.submit(os._exit, 1).result()
        result = dabp.solve_together(problem, Trivial(), executor=executor, workers=2, time_limit=20)
    assert result.cost is not None
    assert any("was lost" in note for note in result.notes)


def test_a_pool_that_is_closed_takes_no_work(problem):
    """Said in one sentence."""
    executor = ThreadPoolExecutor(2)
    executor.shutdown()
    with pytest.raises(ParameterError, match="executor takes no work"):
        dabp.solve_together(problem, Trivial(), executor=executor, workers=2, time_limit=5)


@pytest.mark.parametrize("ahead", [-3600.0, 3600.0])
def test_a_worker_whose_clock_is_another_works_on(problem, tmp_path, ahead):
    """By its clock it was sent in the future, or time is up: it asks the host, which ends it when time really is."""
    board = FolderBoard(tmp_path)
    task = Task(Trivial(), 0, time.time() - ahead, 5.0, {}, board.place(0))
    assert task.left == 5.0
    assert 4.0 < Task(Trivial(), 0, time.time() - 0.5, 5.0, {}, board.place(0)).left <= 4.5
    board.end()
    assert task.left == 0.0
    assert task(problem).cost is not None
    board.close()
    assert task.left == 0.0
