"""A solver whose kernels are not compiled waits for them within the limits, and somebody else answers meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dabp.driver.first_guess import first_guess
from dabp.driver.waiting import Wait, wait_for_kernels
from dabp.generators import generate
from dabp.kernels import cache
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers import SOLVERS, make_solver
from dabp.solvers.local_search.following import FollowingAnnealing
from dabp.solvers.warming import CHAINS, JOBS


@pytest.fixture(scope="module")
def problem() -> Problem:
    return generate("random-cop", variables=30, domain=6, density=0.4, seed=3)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel cache without kernels."""
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)


def test_every_job_is_somebody_s_and_made_by_the_doctor() -> None:
    """What solvers declare are jobs that exist; presolve's and a member's are the portfolio's; each is in one chain."""
    declared = {job for line in SOLVERS.values() for job in line.load().kernels}
    assert declared | {"presolve", *FollowingAnnealing.kernels} == set(JOBS)
    assert sorted(job for chain in CHAINS for job in chain) == sorted(JOBS)


def test_who_needs_no_kernels_starts_at_once(problem: Problem, empty: None) -> None:
    """toulbar2 runs in a process of its own."""
    assert wait_for_kernels(make_solver("toulbar2"), problem, 0, Guard()) == Wait()


def test_the_limit_ends_the_wait_with_an_answer(problem: Problem, empty: None) -> None:
    """Far better than a guess, with a note that says whose it is, and no process left."""
    before = set(psutil.Process().children())
    wait = wait_for_kernels(make_solver("tabu"), problem, 0, Guard(0.5))
    assert not wait.ready
    assert wait.stand_in is not None
    assert problem.cost(wait.stand_in) < 0.9 * problem.cost(first_guess(problem))
    assert "'tabu' were still being compiled" in str(wait.note("tabu"))
    assert not set(psutil.Process().children()) - before


def test_an_interrupt_and_a_callback_end_the_wait(problem: Problem, empty: None) -> None:
    """Without a time limit nobody stands in, so that results do not depend on who compiled."""
    for wait in (
        wait_for_kernels(make_solver("bp"), problem, 0, Guard(interrupted=lambda: True)),
        wait_for_kernels(make_solver("bp"), problem, 0, Guard(), lambda: True),
    ):
        assert not wait.ready
        assert wait.stand_in is None


COLD = """
import json
import dabp
problem = dabp.generate("random-cop", variables=20, domain=4, density=0.4, seed=5)
result = dabp.solve(problem, "forest-lns", max_iterations=20, seed=1)
print(json.dumps([result.cost, result.iterations, list(result.notes)]))
"""


@pytest.mark.slow
def test_a_counted_solve_is_the_same_from_an_empty_cache(tmp_path: Path) -> None:
    """Slow, since it compiles: the wait costs time and nothing else, and the second solve does not wait."""
    environment = {**os.environ, "DABP_CACHE_DIR": str(tmp_path)}
    first, second = (
        json.loads(
            subprocess.run([sys.executable, "-c", COLD], env=environment, check=True, capture_output=True).stdout
        )
        for _ in range(2)
    )
    assert first[:2] == second[:2]
    assert any("compiling the kernels of 'forest-lns'" in note for note in first[2])
    assert not any("compiling" in note for note in second[2])
