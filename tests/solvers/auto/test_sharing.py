"""The part of the members that one of several workers runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dabp
from dabp.errors import ParameterError
from dabp.solvers.auto.member import Kind
from dabp.solvers.auto.plan import SLIVER
from dabp.solvers.auto.sharing import parse_share, shared_out


def _kinds(weights):
    return [Kind(f"m{number}", plan=lambda situation: None, prior=weight) for number, weight in enumerate(weights)]


@given(
    st.lists(st.floats(0.1, 10.0), min_size=1, max_size=8),
    st.integers(1, 12),
    st.integers(1, 3),
)
def test_every_worker_has_work_and_every_strong_member_a_worker(weights, workers, threads):
    """No worker is idle, nobody is left out but slivers, and what a member gets in all is at most its weight."""
    kinds = _kinds(weights)
    parts = [shared_out(kinds, worker, workers, threads) for worker in range(workers)]
    piece = sum(weights) / workers
    for part in parts:
        assert len(part) >= min(threads, len(kinds))
        assert len({kind.name for kind in part}) == len(part)
    named = {kind.name for part in parts for kind in part}
    assert named >= {kind.name for kind in kinds if kind.prior > 2 * SLIVER * piece}
    if threads == 1:
        for kind in kinds:
            given_in_all = sum(mine.prior for part in parts for mine in part if mine.name == kind.name)
            assert given_in_all <= kind.prior * (1 + 1e-9)


def test_two_workers_part_the_strong_from_the_rest():
    """The strongest member has a worker of its own when it is worth half of all."""
    kinds = _kinds([5.0, 3.0, 1.0, 1.0])
    assert [kind.name for kind in shared_out(kinds, 0, 2)] == ["m0"]
    assert [kind.name for kind in shared_out(kinds, 1, 2)] == ["m1", "m2", "m3"]
    assert [kind.name for kind in shared_out(kinds, 0, 1)] == ["m0", "m1", "m2", "m3"]


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/0", "-1/2", "1/2/3", "one/two"])
def test_shares_that_are_none_are_refused(text):
    """With the sentence that says what they look like."""
    with pytest.raises(ParameterError, match='as in "2/4"'):
        dabp.solve(dabp.generate("random-cop", variables=3, seed=0), "auto", params={"share": text})


def test_a_share_runs_only_its_members():
    """The notes of a solve name no member of the other share."""
    assert parse_share("2/4") == (1, 4)
    problem = dabp.generate("random-cop", variables=160, domain=4, density=0.1, seed=0)
    told = []
    for share in ("1/2", "2/2"):
        result = dabp.solve(problem, params={"share": share, "prove": False}, max_iterations=400)
        told.append({record["member"] for record in result.trace.records if "member" in record})
    assert told[0]
    assert told[1]
    assert len(told[0] & told[1]) <= 1, "at most the member at the cut"
