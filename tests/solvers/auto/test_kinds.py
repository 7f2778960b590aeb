"""Who takes part, and how its runs follow from what is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.auto.features import Features, features_of
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.kinds import line_up
from dabp.solvers.auto.member import Member, Situation
from dabp.solvers.belief_propagation.bp import BeliefPropagation
from tests.solvers.auto.shapes import cliques, from_pairs


def test_members_that_suit_nothing_are_refused() -> None:
    """Members are for problems of some size; if none is left, that is said."""
    problem = generate("random-cop", variables=30, seed=0)
    with pytest.raises(ParameterError, match="none of the members 'bp-learned' suits"):
        dabp.solve(problem, "auto", max_iterations=100, params={"members": "bp-learned"})


def test_members_follow_size_time_and_choice() -> None:
    """DABP only with a minute or when asked for; learned BP only from some hundred variables on."""
    small, large = cliques(1, 8, 3), Problem([3] * 1000)
    assert "dabp" not in {kind.name for kind in line_up(features_of(small), 10.0).kinds}
    assert "dabp" in {kind.name for kind in line_up(features_of(small), 100.0).kinds}
    assert [kind.name for kind in line_up(features_of(small), 10.0, names=frozenset({"dabp"})).kinds] == ["dabp"]
    assert "bp-learned" not in {kind.name for kind in line_up(features_of(small), 10.0).kinds}
    assert "bp-learned" in {kind.name for kind in line_up(features_of(large), 10.0).kinds}


def test_a_second_annealing_runs_beside_the_first_and_not_instead() -> None:
    """With a single thread it would only halve the cycles of the first, which has its time."""
    medium = features_of(generate("random-cop", variables=200, density=0.05, seed=0))
    priors = {
        threads: {kind.name: kind.prior for kind in line_up(medium, 10.0, threads=threads).kinds} for threads in (1, 2)
    }
    assert priors[2].keys() - priors[1].keys() == {"annealing 2"}
    assert {"annealing", "bp-learned"} <= priors[1].keys()
    assert sum(priors[1].values()) == pytest.approx(sum(priors[2].values()))


def test_colourings_of_medium_size_are_tempered() -> None:
    """Soft ones; not problems with costs of no kind, nor where combinations are forbidden, nor in turns."""
    colouring = features_of(generate("graph-coloring", variables=200, density=0.1, seed=0))
    other = features_of(generate("random-cop", variables=200, density=0.1, seed=0))
    hard = replace(colouring, crisp=0.5)
    tempered = ["tempering" in {kind.name for kind in line_up(each, 10.0).kinds} for each in (colouring, other, hard)]
    assert tempered == [True, False, False]
    kind = next(kind for kind in line_up(colouring, 10.0).kinds if kind.name == "tempering")
    assert kind.turn == 0


def test_the_dual_looks_first_at_sparse_problems() -> None:
    """Where the relaxation may be tight, passes are quick and a slice is but a small part of the time."""
    sparse = features_of(generate("random-cop", variables=700, density=0.01, seed=0))
    dense = features_of(generate("random-cop", variables=700, density=0.03, seed=0))

    def first(features: Features, seconds: float) -> list[str]:
        return [kind.name for kind in line_up(features, seconds).kinds if kind.first]

    assert first(sparse, 10.0) == ["dual"]
    assert first(sparse, 1.0) == []
    assert first(dense, 10.0) == []
    assert first(replace(sparse, num_edges=10**6), 10.0) == []


def test_soft_runs_are_judged_when_they_have_frozen() -> None:
    """Learned BP is patient, restarts by itself and is not ended for saying nothing new; it tells when a run ends."""
    problem = generate("random-cop", variables=160, density=0.05, seed=0)
    kind = next(kind for kind in line_up(features_of(problem), 10.0).kinds if kind.name == "bp-learned")
    assert kind.patient
    incumbent, member = Incumbent(problem), Member(kind, problem, seed=0, number=0)
    assert kind.plan(Situation(0, np.random.default_rng(0), 10.0, 0.0, incumbent)).ends
    reports = [member.slice(0.0, incumbent, lambda: 0.0, 10.0, lambda: False) for _ in range(400)]
    member.close()
    ended = [report.ended for report in reports]
    assert any(ended)
    assert not all(ended)
    assert all(report.finished is None for report in reports)


def test_images_with_little_time_open_with_a_cooling() -> None:
    """It is first by weight, ends by itself and comes once; with more time the dual needs no help."""
    image = from_pairs(45, 4, lambda: 5.0 * (1.0 - np.eye(4)))
    kinds = {kind.name: kind for kind in line_up(features_of(image), 0.5).kinds}
    assert kinds["opening"].prior == max(kind.prior for kind in kinds.values())
    assert kinds["opening"].once
    run = kinds["opening"].plan(Situation(0, np.random.default_rng(0), 0.5, 0.0, Incumbent(image)))
    assert run.ends
    assert run.initial is None
    assert "opening" not in {kind.name for kind in line_up(features_of(image), 10.0).kinds}


def test_reinforced_runs_slow_down_as_time_allows() -> None:
    """On a large problem later runs take a rate that fills the time left, given how long the run before took."""
    large = Problem([3] * 1000)
    reinforced = next(kind for kind in line_up(features_of(large), 100.0).kinds if kind.name == "bp-reinforced")
    incumbent, rates = Incumbent(large), []
    for number, (left, last) in enumerate([(100.0, 0.0), (90.0, 1.0), (80.0, 12.0), (20.0, 60.0)]):
        solver = reinforced.plan(Situation(number, np.random.default_rng(0), left, last, incumbent)).solver
        assert isinstance(solver, BeliefPropagation)
        rates.append(solver.reinforcement)
    assert rates[2] == pytest.approx(rates[0] * 1.0 / (0.75 * 80.0))
    assert rates[3] == pytest.approx(rates[2] * 60.0 / (0.75 * 20.0))


def test_polishing_starts_from_the_incumbent() -> None:
    """Local searches begin afresh once, then from the best answer; forests around it from the first time on."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    incumbent.offer(np.ones(6, dtype=np.int64), "a", 0.0)
    kinds = {kind.name: kind for kind in line_up(features_of(problem), 10.0).kinds}

    def initial(name: str, number: int) -> np.ndarray | None:
        return kinds[name].plan(Situation(number, np.random.default_rng(0), 9.0, 1.0, incumbent)).initial

    assert initial("tabu", 0) is None
    for name, number in (("tabu", 1), ("annealing", 1), ("forest-lns", 0)):
        start = initial(name, number)
        assert start is not None
        assert start.tolist() == [1] * 6


def test_who_takes_too_long_to_start_is_left_out_but_never_all() -> None:
    """With little time a huge problem has the members that start soonest, and a note names the others."""
    features = replace(features_of(from_pairs(30, 3, lambda: np.eye(3))), num_edges=4_000_000, num_messages=20_000_000)
    names = [{kind.name for kind in line_up(features, seconds).kinds} for seconds in (1e-3, 4.0, 1000.0)]
    assert names[0] == {"descent"}
    assert set() < names[1] - {"descent"} < names[2]
    assert "descent" not in names[2]
    assert any("left out" in note for note in line_up(features, 4.0).notes)
    assert not any("left out" in note for note in line_up(features, 1000.0).notes)
    chosen = line_up(features, 1e-3, names=frozenset({"tabu"}))
    assert [kind.name for kind in chosen.kinds] == ["tabu"]


def test_few_iterations_are_not_shared() -> None:
    """With time for few iterations one run has all threads and the others wait; not so where the time is ample."""
    problem = generate("random-cop", variables=700, domain=4, density=0.01, seed=0)
    huge = replace(features_of(problem), num_edges=4_000_000, num_cells=50_000_000)
    kinds = {kind.name: kind for kind in line_up(huge, 20.0, threads=2).kinds}
    run = kinds["bp-reinforced"].plan(Situation(0, np.random.default_rng(0), 18.0, 0.0, Incumbent(problem)))
    assert run.budget.threads == 2
    assert run.budget.time_limit is not None
    assert 0.5 * 18.0 < run.budget.time_limit < 18.0
    assert kinds["bp-reinforced"].delay == 0.0
    assert all(kind.delay > 0.5 for name, kind in kinds.items() if name != "bp-reinforced")
    line = line_up(replace(huge, crisp=0.1), 20.0, threads=2)
    crisp = {kind.name: kind for kind in line.kinds}
    assert len(crisp) == len(line.kinds), "nobody is there twice"
    assert "bp-reinforced" not in crisp, "it may end with nothing that is allowed"
    assert crisp["bp-learned"].delay == 0.0
    few = frozenset({"bp-reinforced", "annealing"})
    assert "bp-learned" not in {
        kind.name for kind in line_up(replace(huge, crisp=0.1), 20.0, names=few, threads=2).kinds
    }
    for ample in (line_up(huge, 2000.0, threads=2), line_up(huge, 20.0)):
        assert any(kind.delay == 0.0 for kind in ample.kinds if kind.name != "bp-reinforced")


def test_expansion_waits_for_the_dual_where_values_are_many() -> None:
    """On an image whose cycle of expansions would take much of the time nobody runs beside the dual at first."""
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
        kinds = {kind.name: kind for kind in line_up(features, seconds, threads=2).kinds}
        assert kinds["expansion"].delay == late
        assert kinds["dual"].delay == 0.0
        situation = Situation(0, np.random.default_rng(0), seconds, 0.0, Incumbent(Problem([2])))
        assert kinds["dual"].plan(situation).budget.threads == (2 if late else 1)
        if late:
            assert not any(kind.eager for kind in kinds.values())


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
    names = {seconds: {kind.name for kind in line_up(features, seconds, threads=2).kinds} for seconds in (2.0, 9.5)}
    assert "bp-reinforced" in names[9.5]
    assert "bp-reinforced" not in names[2.0]


def test_members_whose_tables_take_too_much_memory_are_left_out() -> None:
    """Those that take most go first, those that share a table stay together, never the one of most weight."""
    features = features_of(generate("random-cop", variables=30, density=0.5, seed=0))
    every = {kind.name for kind in line_up(features, 10.0).kinds}
    names, notes = {}, {}
    for cells in (10**6, 10**7, 5 * 10**7, 4 * 10**8):
        line = line_up(replace(features, num_cells=cells, num_different_cells=cells), 50.0)
        names[cells] = {kind.name for kind in line.kinds}
        notes[cells] = any("too much memory" in note for note in line.notes)
    assert names[10**6] == every
    assert names[10**7] == every - {"dual", "forest-lns"}
    assert names[5 * 10**7] == names[4 * 10**8] == {"tabu", "annealing", "cooling"}
    assert list(notes.values()) == [False, True, True, True]
    shared = line_up(replace(features, num_cells=10**9, num_different_cells=10**7), 50.0)
    assert {kind.name for kind in shared.kinds} == every, "a solver that shares no tables would take more"
    asked = line_up(replace(features, num_different_cells=10**9), 10.0, names=frozenset({"dual"}))
    assert [kind.name for kind in asked.kinds] == ["dual"]


def test_what_others_follow_from_is_moved() -> None:
    """Where partial sums follow from terms a member moves these alone; where nothing follows it is not there."""
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(12)], 3)
    model.linear({name: 2 + i for i, name in enumerate(names)}, "<=", 60)
    sums, other = features_of(model.build()), features_of(generate("random-cop", variables=30, density=0.1, seed=0))
    assert ["following" in {kind.name for kind in line_up(each, 10.0).kinds} for each in (sums, other)] == [True, False]


def test_a_second_tabu_search_where_most_is_forbidden() -> None:
    """Beside the first one, hence not with a single thread, nor in turns, nor where little is forbidden."""
    soft = features_of(generate("graph-coloring", variables=50, density=0.1, seed=0))
    crisp = replace(soft, hard=1.0, crisp=1.0)
    names = [{kind.name for kind in line_up(each, 10.0, threads=t).kinds} for each in (soft, crisp) for t in (1, 2)]
    assert ["tabu 2" in each for each in names] == [False, False, False, True]
    assert next(kind for kind in line_up(crisp, 10.0).kinds if kind.name == "tabu 2").turn == 0


def test_few_variables_of_many_values_have_long_runs() -> None:
    """Where an iteration takes long and neighbours are few, not where there is time, nor where all are neighbours."""
    sparse = replace(features_of(generate("random-cop", variables=100, density=0.08, seed=0)), num_cells=8_000_000)
    dense = replace(sparse, degree=50.0)
    long = [
        any("all threads" in note for note in line_up(each, seconds, threads=2).notes)
        for each, seconds in ((sparse, 2.0), (sparse, 60.0), (dense, 2.0))
    ]
    assert long == [True, False, False]
