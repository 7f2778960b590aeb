"""Runs of bp-learned: soft ones end cold, those of min-sum are as bp-reinforced draws them, pulls spare the best."""

from dataclasses import replace

import numpy as np
import pytest

import dabp
from dabp.graph import FactorGraph
from dabp.solvers.belief_propagation.policy import COLD, Policy, features_of
from dabp.solvers.belief_propagation.reinforcement import DAMPING, FASTEST, PERTURBATION, RATE
from dabp.solvers.belief_propagation.runs import (
    FREED,
    FREED_MORE,
    HARD,
    HARD_RATE,
    PULLED,
    STRONG,
    hard_draw,
    hard_run,
    near_draw,
    soft_run,
    unary_of,
    within,
)
from tests.problems import random_problem


def test_soft_runs_follow_the_policy():
    """As long as asked for, β rising, and infinite above `COLD`."""
    problem = dabp.generate("random-cop", variables=30, domain=5, density=0.3, seed=1)
    graph = FactorGraph.from_problem(problem, dtype=np.float32)
    run = soft_run(Policy.shipped().outputs(features_of(graph)), graph, 80, per_variable=True)
    phases = run.schedule.phases(0, run.length)
    assert run.length == len(phases.beta) == 80
    assert (np.diff(phases.beta[np.isfinite(phases.beta)]) >= 0).all()
    assert phases.beta[np.isfinite(phases.beta)].max() <= COLD
    assert np.shape(run.damping) == (graph.num_edges,)
    assert {"beta_start", "beta_end", "damping"} <= run.record(80).keys()


def test_records_tell_which_iterations_have_a_temperature():
    """Those with a finite β, of the ones that were done; without a temperature nothing is said of β."""
    problem = dabp.generate("random-cop", variables=30, domain=5, density=0.3, seed=1)
    graph = FactorGraph.from_problem(problem, dtype=np.float32)
    run = soft_run(Policy.shipped().outputs(features_of(graph)), graph, 400, per_variable=True)
    middle = np.sqrt(run.schedule.beta.start * run.schedule.beta.end)
    run = replace(run, schedule=replace(run.schedule, cold=middle))
    soft = int(np.isfinite(run.schedule.phases(0, 400).beta).sum())
    assert 0 < soft < 400
    assert run.record(400)["soft_iterations"] == soft
    assert run.record(9)["soft_iterations"] == 9
    without = replace(run, schedule=replace(run.schedule, cold=0.0)).record(400)
    assert not {"beta_start", "beta_end", "soft_iterations"} & without.keys()
    assert without["damping"] == run.record(400)["damping"]


def test_min_sum_is_drawn_as_reinforced_bp_is():
    """From its ranges, at an infinite β all the way, until it settles; the record tells the gain that it came to."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        drawn = within(hard_draw(rng), RATE[0])
        run = hard_run(HARD, drawn, None)
        assert DAMPING[0] <= run.damping <= DAMPING[1]
        assert HARD_RATE[0] * 0.999 <= run.rules.rate <= HARD_RATE[1] * 1.001
        assert run.schedule.perturbation <= PERTURBATION
        assert run.rules.patience > 0
        assert np.isinf(run.schedule.phases(0, 50).beta).all()
        assert run.record(50)["reinforcement"] == pytest.approx(1 - (1 - run.rules.rate) ** 50)
        assert run.pull == 0


def test_rates_fit_what_is_left():
    """Never slower than asked for, nor faster than sensible; elsewhere draws are clipped to what can be."""
    wild = np.array([2.0, np.log(1e-9), -0.1, -0.3, 7.0])
    assert np.exp(within(wild, 1e-3)[1]) == pytest.approx(1e-3)
    assert np.exp(within(wild, 1.0)[1]) == pytest.approx(FASTEST)
    run = hard_run(PULLED, within(wild, 1e-3), 60)
    assert (run.damping, run.schedule.perturbation, run.pull, run.freed, run.length) == (0.95, 0.0, 0.0, 1.0, 60)


def test_a_pull_spares_the_best_assignment():
    """Every other value is charged the same, of all variables or of those that are not freed."""
    problem = random_problem(5, maximize=False)
    graph = FactorGraph.from_problem(problem, dtype=np.float32)
    best = problem.domain_sizes - 1
    run = hard_run(PULLED, np.array([0.3, -6.0, 0.0, 0.4, 0.0]), None)
    chance = np.random.default_rng(0).random(len(graph.unary) + graph.num_variables)
    unary = unary_of(run, chance, graph, best)
    places = graph.variable_offsets[:-1] + best
    assert (unary[places] == 0).all()
    assert (np.delete(unary, places) == 0.4).all()
    some = unary_of(hard_run(PULLED, np.array([0.3, -6.0, 0.0, 0.4, 0.6]), None), chance, graph, best)
    charged = [np.unique(np.delete(part, -1)) for part in np.split(some, graph.variable_offsets[1:-1]) if len(part) > 1]
    assert {float(values[0]) for values in charged} == {0.0, 0.4}
    assert all(len(values) == 1 for values in charged)


def test_runs_near_the_best_free_more_where_they_hold_the_rest():
    """A weak charge for most, or a strong one that frees most; sooner frozen than others."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        run = hard_run(PULLED, within(near_draw(rng, 6.0), RATE[0]), None)
        low, high = FREED_MORE if run.pull > STRONG else FREED
        assert 0 < run.pull <= 6
        assert low <= run.freed <= high
        assert run.record(9)["freed"] == run.freed
