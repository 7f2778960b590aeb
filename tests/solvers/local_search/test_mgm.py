"""Maximum gain messages."""

from __future__ import annotations

import numpy as np

import dabp
from dabp.solvers.status import Status

PROBLEM = dabp.generate("scale-free", variables=30, domain=5, seed=4)


def _reference_rounds(start: np.ndarray) -> list[float]:
    """MGM by its definition, on whole assignments, until nobody gains."""
    x, costs = start.copy(), []
    neighbours = [set() for _ in x]
    for factor in PROBLEM.factors:
        for i in factor.scope:
            neighbours[i] |= set(factor.scope) - {i}
    while True:
        gains, values = [], []
        for i in range(len(x)):
            rows = np.repeat(x[None], PROBLEM.domain_sizes[i], axis=0)
            rows[:, i] = np.arange(PROBLEM.domain_sizes[i])
            options = PROBLEM.cost(rows)
            gains.append(options[x[i]] - options.min())
            values.append(int(options.argmin()))
        winners = [
            i for i in range(len(x)) if gains[i] > 0 and all((gains[i], -i) > (gains[j], -j) for j in neighbours[i])
        ]
        for i in winners:
            x[i] = values[i]
        costs.append(PROBLEM.cost(x))
        if not winners:
            return costs


def test_rounds_are_what_the_definition_says() -> None:
    """Every round's cost equals that of a plain implementation, and never rises; it ends by itself."""
    start = np.random.default_rng(2).integers(0, PROBLEM.domain_sizes)
    result = dabp.solve(PROBLEM, "mgm", initial=start, seed=0)
    assert result.trace.iteration_costs.tolist() == _reference_rounds(start)
    assert (np.diff(result.trace.iteration_costs) <= 0).all()
    assert result.status is Status.CONVERGED
