"""Moves that take along what follows."""

import itertools

import numpy as np

import dabp
from dabp.kernels.local_search.following_moves import Cooling, follow, settle_all
from dabp.solvers.local_search.following_annealing import wave_of, web_of


def test_costs_and_violations_are_those_of_the_assignment() -> None:
    """After many moves, what was kept move by move is what the problem says of the assignment."""
    rng = np.random.default_rng(5)
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(9)], 3)
    for first, second in itertools.pairwise(names):
        model.add_cost([first, second], rng.integers(0, 50, (3, 3)).astype(float))
    model.linear(dict(zip(names, rng.integers(1, 9, 9).tolist(), strict=True)), "<=", 20)
    model.at_least(names, 2, 4)
    problem = model.build()
    web = web_of(problem)
    wave = wave_of(web, 7)
    wave.progress["weight"] = 10.0
    settle_all(web, wave)
    for hot in (1e6, 20.0, 1.0):
        follow(web, wave, Cooling(2000, hot, 1.0, 10_000, 1.1, 1e9))
        assert (wave.x == problem.auxiliaries.completed(wave.x)).all()
        paid = problem.factor_costs(wave.x)
        assert wave.progress["violations"] == np.isinf(paid).sum()
        assert wave.progress["soft"] == paid[np.isfinite(paid)].sum()
