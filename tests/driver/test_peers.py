"""What a solve tells others at work on the same problem, and hears of them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

import dabp
from dabp.driver.peers import Known
from dabp.driver.solve import solve_among
from dabp.errors import SolverError
from dabp.solvers.status import Status

sys.path.insert(0, str(Path(__file__).parents[1] / "lab" / "experiments"))

from faults import Trivial


class Told:
    """Peers that answer with what they are given, once, and remember what they were told."""

    def __init__(self, *known, ended_after=10**9):
        self.known, self.heard, self._after = list(known), [], ended_after

    @property
    def ended(self):
        return len(self.heard) >= self._after

    def exchange(self, progress):
        self.heard.append((progress.cost, progress.bound))
        answer, self.known = self.known, []
        return answer


@given(
    st.none() | st.lists(st.integers(0, 2**40), max_size=20),
    st.none() | st.floats(allow_nan=False),
)
def test_what_is_known_survives_its_bytes(values, bound):
    """Whatever the sizes of domains and the bound."""
    known = Known(None if values is None else np.array(values, dtype=np.int64), bound)
    again = Known.from_bytes(known.to_bytes())
    assert again.bound == bound
    assert (again.assignment is None) == (values is None)
    assert values is None or again.assignment.tolist() == values


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"\x08\0\0\0\0\0\0\0{}      "[:-2],
        safetensors.numpy.save({"assignment": np.array([0.5, np.nan])}),
        safetensors.numpy.save({"bound": np.array([1.0, 2.0])}),
        safetensors.numpy.save({"assignment": np.zeros(4, dtype=np.uint8)}).replace(b'"U8"', b'"F8_E4M3"'[:4]),
    ],
)
def test_bytes_that_are_none_are_refused(data):
    """With a sentence, not with a stack trace of a parser."""
    with pytest.raises(SolverError, match="another worker sent"):
        Known.from_bytes(data)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_better_answer_of_others_is_taken_at_its_own_cost(maximize):
    """The optimum by exhaustive search, told to a solver that draws at random: it is the answer."""
    problem = dabp.generate("random-cop", variables=5, domain=3, density=0.8, seed=4)
    problem = problem.replace(maximize=maximize)
    every = np.stack(np.meshgrid(*[np.arange(3)] * 5, indexing="ij"), axis=-1).reshape(-1, 5)
    costs = problem.cost(every)
    best = every[costs.argmax() if maximize else costs.argmin()]
    peers = Told(Known(best))
    result = solve_among(peers, problem, Trivial(steps=2), {})
    assert result.cost == problem.cost(best)
    assert result.assignment.tolist() == best.tolist()
    peers = Told(Known(best, float(problem.cost(best))))
    result = solve_among(peers, problem, Trivial(steps=100), {})
    assert result.status is Status.OPTIMAL
    assert result.iterations < 100, "the bound that others proved ended it"


def test_answers_through_presolve_and_to_members(monkeypatch):
    """What others found reaches the portfolio's members in the reduced problem."""
    problem = dabp.generate("random-cop", variables=40, domain=4, density=0.3, seed=4)
    known = dabp.solve(problem, "tabu", max_iterations=3000).assignment
    result = solve_among(Told(Known(known)), problem, "auto", {"max_iterations": 300, "params": {"prove": False}})
    assert result.cost <= problem.cost(known)


def test_others_may_end_it():
    """A solve that would go on ends as interrupted."""
    problem = dabp.generate("random-cop", variables=5, domain=3, density=0.8, seed=4)
    peers = Told(ended_after=3)
    result = solve_among(peers, problem, Trivial(steps=10_000), {})
    assert (result.status, result.iterations) == (Status.INTERRUPTED, 3)
    assert peers.heard[-1][0] is not None


def test_an_assignment_of_another_problem_is_refused():
    """It is not taken for one of this problem."""
    problem = dabp.generate("random-cop", variables=5, domain=3, density=0.8, seed=4)
    for wrong in (np.zeros(4, dtype=np.int64), np.full(5, 7)):
        with pytest.raises(SolverError, match="another problem"):
            solve_among(Told(Known(wrong)), problem, Trivial(), {})
