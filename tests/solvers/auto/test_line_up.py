"""Which members take part: by kind of problem, by time and by memory, and in the part of one of several workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dabp
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.auto.features import Features, features_of
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.line_up import LineUp, Place, affordable, line_up, parse_share, setup_seconds, shared_out
from dabp.solvers.auto.member import Member, Situation
from dabp.solvers.auto.members import MEMBERS, iteration_seconds
from tests.solvers.auto.shapes import cliques, from_pairs


@pytest.fixture(scope="module")
def small() -> Features:
    """Of a small problem, where no member is left out for long."""
    return features_of(generate("random-cop", variables=30, density=0.5, seed=0))


def names(line: LineUp) -> list[str]:
    """The solvers of a line-up."""
    return [place.member.solver for place in line.places]


def some(*solvers: str) -> list[Member]:
    """Lines of the table."""
    return [member for member in MEMBERS if member.solver in solvers]


def test_members_that_suit_nothing_are_refused() -> None:
    """If no member is left, the error says when those that were asked for take part."""
    problem = generate("random-cop", variables=30, seed=0)
    for name, when in (("expansion", "on images"), ("bp-learned", "from 150 variables on")):
        with pytest.raises(ParameterError, match=f"none of the members '{name}' suits this problem .*{when}"):
            dabp.solve(problem, "auto", max_iterations=100, params={"members": name})


def test_members_follow_size_time_and_choice() -> None:
    """DABP only with a minute or when asked for; tempering on soft colourings; those that follow, where they do."""
    clique = features_of(cliques(1, 8, 3))
    assert "dabp" not in names(line_up(clique, 10.0, threads=2))
    assert "dabp" in names(line_up(clique, 100.0, threads=2))
    assert names(line_up(clique, 10.0, names=frozenset({"dabp"}))) == ["dabp"]
    colouring = features_of(generate("graph-coloring", variables=200, density=0.1, seed=0))
    other = features_of(generate("random-cop", variables=200, density=0.1, seed=0))
    hard = replace(colouring, crisp=0.5)
    tempered = ["tempering" in names(line_up(each, 10.0, threads=2)) for each in (colouring, other, hard)]
    assert tempered == [True, False, False]
    model = dabp.Model()
    variables = model.add_variables([f"x{i}" for i in range(12)], 3)
    model.linear({name: 2 + i for i, name in enumerate(variables)}, "<=", 60)
    for each, follows in ((features_of(model.build()), True), (other, False)):
        assert ("annealing-free" in names(line_up(each, 10.0, threads=2))) == follows


def test_members_that_plan_by_the_clock_have_no_turns() -> None:
    """Where iterations are the limit, each member that takes part has a length of its first turn."""
    line = line_up(features_of(generate("graph-coloring", variables=200, density=0.1, seed=0)), 10.0)
    assert "tempering" not in names(line)
    assert all(place.member.turn for place in line.places)


def test_copies_share_the_weight_and_need_threads() -> None:
    """With a single thread a second annealing would only halve the cycles of the first."""
    medium = features_of(generate("random-cop", variables=200, density=0.05, seed=0))
    weights = {
        threads: [p.weight for p in line_up(medium, 10.0, threads=threads).places if p.member.solver == "annealing"]
        for threads in (1, 2)
    }
    assert len(weights[1]) == 1
    assert len(weights[2]) == 2
    assert sum(weights[1]) == pytest.approx(sum(weights[2]))
    crisp = replace(medium, hard=1.0)
    assert [names(line_up(each, 10.0, threads=2)).count("tabu") for each in (medium, crisp)] == [1, 2]


def test_members_that_start_too_late_are_left_out_but_never_all() -> None:
    """With little time a huge problem has the members that start soonest, and a note names the others."""
    features = replace(features_of(from_pairs(30, 3, lambda: np.eye(3))), num_edges=4_000_000, num_messages=20_000_000)
    found = [set(names(line_up(features, seconds, threads=2))) for seconds in (1e-3, 4.0, 1000.0)]
    assert found[0] == {"icm"}
    assert set() < found[1] - {"icm"} < found[2]
    assert "icm" not in found[2]
    assert any("left out" in note for note in line_up(features, 4.0, threads=2).notes)
    assert not any("left out" in note for note in line_up(features, 1000.0, threads=2).notes)
    assert names(line_up(features, 1e-3, names=frozenset({"tabu"}), threads=2)) == ["tabu"]


def test_the_member_of_most_weight_may_take_longer_to_start() -> None:
    """A million variables and ten seconds: reinforced BP takes part though its start takes a third of them."""
    features = replace(
        features_of(Problem([5] * 1000)),
        num_variables=1_000_000,
        num_edges=4_000_000,
        num_messages=20_000_000,
        num_cells=50_000_000,
        largest_domain=5,
        largest_arity=2,
        degree=4.0,
    )
    assert ["bp-reinforced" in names(line_up(features, seconds, threads=2)) for seconds in (2.0, 9.5)] == [False, True]


def test_icm_is_for_problems_that_others_do_not_start_on_in_time(small: Features) -> None:
    """With time for all it is left out without a word; on a vast problem the others are left out for it."""
    members = some("annealing", "tabu", "bp-reinforced", "icm", "dual")
    kept, notes = affordable(members, "small", small, 10.0)
    assert kept == [member for member in members if member.solver != "icm"]
    assert notes == []
    kept, notes = affordable(members, "small", replace(small, num_edges=10**9), 1.0)
    assert kept == some("icm")
    assert "too much of the time" in notes[0]


def test_a_run_that_would_be_cut_off_at_once_is_not_begun(small: Features) -> None:
    """Belief propagation needs some iterations after its start; with time for fewer it is left to descent."""
    large = replace(small, num_edges=4_000_000, num_cells=50_000_000)
    (member,) = some("bp-reinforced")
    start, iterations = setup_seconds(member, large), 9 * iteration_seconds(large)
    members = some("annealing", "bp-reinforced", "icm")
    for seconds, begins in ((start + 0.5 * iterations, False), (2 * start + 2 * iterations, True)):
        assert (member in affordable(members, "large", large, seconds)[0]) is begins


def test_members_whose_tables_take_too_much_memory_are_left_out(small: Features) -> None:
    """Those that take most go first, those that share a table stay together, never the one of most weight."""
    every = set(names(line_up(small, 10.0, threads=2)))
    found, notes = {}, {}
    for cells in (10**6, 10**7, 5 * 10**7, 4 * 10**8):
        line = line_up(replace(small, num_cells=cells, num_different_cells=cells), 50.0, threads=2)
        found[cells] = set(names(line))
        notes[cells] = any("too much memory" in note for note in line.notes)
    assert found[10**6] == every
    assert found[10**7] == every - {"dual", "neighbourhood"}
    assert found[5 * 10**7] == found[4 * 10**8] == {"tabu", "annealing"}
    assert list(notes.values()) == [False, True, True, True]
    shared = line_up(replace(small, num_cells=10**9, num_different_cells=10**7), 50.0, threads=2)
    assert set(names(shared)) == every, "a solver that shares no tables would take more"
    bulky = replace(small, num_different_cells=10**9)
    assert names(line_up(bulky, 10.0, names=frozenset({"dual"}))) == ["dual"]
    images = some("dual-branching", "expansion")
    assert affordable(images, "image", bulky, 1e6)[0] == images


def test_few_iterations_are_not_shared() -> None:
    """With time for few iterations one run has all threads and the others wait; not so where the time is ample."""
    problem = generate("random-cop", variables=700, domain=4, density=0.01, seed=0)
    huge = replace(features_of(problem), num_edges=4_000_000, num_cells=50_000_000)
    places = {place.member.solver: place for place in line_up(huge, 20.0, threads=2).places}
    first = places["bp-reinforced"]
    now = Situation("large", huge, Incumbent(problem), np.random.default_rng(0), 20.0, 18.0, first.threads)
    run = first.member.plan(now)
    assert run.budget.threads == 2
    assert run.budget.time_limit is not None
    assert 0.5 * 18.0 < run.budget.time_limit < 18.0
    assert first.delay == 0.0
    assert all(place.delay > 0.5 for name, place in places.items() if name != "bp-reinforced")
    crisp = {place.member.solver: place for place in line_up(replace(huge, crisp=0.1), 20.0, threads=2).places}
    assert "bp-reinforced" not in crisp, "it may end with nothing that is allowed"
    assert crisp["bp-learned"].delay == 0.0
    few = frozenset({"bp-reinforced", "annealing"})
    assert "bp-learned" not in names(line_up(replace(huge, crisp=0.1), 20.0, names=few, threads=2))
    for ample in (line_up(huge, 2000.0, threads=2), line_up(huge, 20.0)):
        assert any(place.delay == 0.0 for place in ample.places if place.member.solver != "bp-reinforced")


def test_expansion_waits_for_the_dual_where_values_are_many() -> None:
    """On an image whose cycle of expansions would take much of the time nothing runs beside the dual at first."""
    features = replace(
        features_of(Problem([2] * 400)),
        num_variables=100_000,
        num_edges=400_000,
        num_messages=400_000 * 60,
        num_cells=200_000 * 3600,
        largest_domain=60,
        largest_arity=2,
        degree=4.0,
        attractive=1.0,
    )
    for seconds, late in ((2.0, 1.0), (5.0, 0.5), (30.0, 0.0)):
        places = {place.member.solver: place for place in line_up(features, seconds, threads=2).places}
        assert places["expansion"].delay == late
        assert places["expansion"].waits == (late > 0)
        assert places["dual-branching"].delay == 0.0
        assert places["dual-branching"].threads == (2 if late else 1)


def test_few_variables_of_many_values_have_long_runs() -> None:
    """Where an iteration takes long and neighbours are few, not where there is time, nor where all are neighbours."""
    problem = generate("random-cop", variables=100, density=0.08, seed=0)
    sparse = replace(features_of(problem), num_cells=8_000_000)
    dense = replace(sparse, degree=50.0)
    long = [
        any("all threads" in note for note in line_up(each, seconds, threads=2).notes)
        for each, seconds in ((sparse, 2.0), (sparse, 60.0), (dense, 2.0))
    ]
    assert long == [True, False, False]


# ---- several workers ------------------------------------------------------------------------------------------------


def placed(weights: list[float]) -> list[Place]:
    """Members m0, m1, … of these weights."""
    return [
        Place(Member(solver=f"m{number}", plan=lambda situation: None, weights={}), "small", weight)  # type: ignore[arg-type,return-value]
        for number, weight in enumerate(weights)
    ]


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=8), st.integers(1, 12), st.integers(1, 3))
def test_every_worker_has_work_and_every_strong_member_a_worker(
    weights: list[float], workers: int, threads: int
) -> None:
    """No worker is idle, only slivers are left out, and what a member gets in all is at most its weight."""
    places = placed(weights)
    parts = [shared_out(places, worker, workers, threads) for worker in range(workers)]
    piece = sum(weights) / workers
    for part in parts:
        assert len(part) >= min(threads, len(places))
        assert len({place.member.solver for place in part}) == len(part)
    named = {place.member.solver for part in parts for place in part}
    assert named >= {place.member.solver for place in places if place.weight > 0.2 * piece}
    if threads == 1:
        for place in places:
            mine = [each.weight for part in parts for each in part if each.member is place.member]
            assert sum(mine) <= place.weight * (1 + 1e-9)


def test_two_workers_part_the_strong_from_the_rest() -> None:
    """The strongest member has a worker of its own when it is worth half of all."""
    places = placed([5.0, 3.0, 1.0, 1.0])
    parts = [[each.member.solver for each in shared_out(places, *share)] for share in ((0, 2), (1, 2), (0, 1))]
    assert parts == [["m0"], ["m1", "m2", "m3"], ["m0", "m1", "m2", "m3"]]


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/0", "-1/2", "1/2/3", "one/two"])
def test_shares_that_are_none_are_refused(text: str) -> None:
    """With the sentence that says what they look like."""
    with pytest.raises(ParameterError, match='as in "2/4"'):
        dabp.solve(dabp.generate("random-cop", variables=3, seed=0), "auto", params={"share": text})


def test_a_share_runs_only_its_members() -> None:
    """The records of a solve name no member of the other share."""
    assert parse_share("2/4") == (1, 4)
    problem = dabp.generate("random-cop", variables=160, domain=4, density=0.1, seed=0)
    recorded = []
    for share in ("1/2", "2/2"):
        result = dabp.solve(problem, params={"share": share, "prove": False}, max_iterations=400, threads=1)
        recorded.append({record["member"] for record in result.trace.records if "member" in record})
    assert recorded[0]
    assert recorded[1]
    assert len(recorded[0] & recorded[1]) <= 1, "at most the member at the cut"
