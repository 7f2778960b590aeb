"""What an observer gets is what the plain path computes, equation by equation."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers.dabp.observation import Observation


def observed(problem: Problem, **params: object) -> list[Observation]:
    """The observations of 25 iterations in double precision."""
    found: list[Observation] = []
    dabp.solve(problem, "dabp", max_iterations=25, params={"dtype": "float64", **params}, observe=found.append)
    return found


@pytest.mark.parametrize("params", [{}, {"damping": "mean"}, {"weights": "uniform"}])
def test_both_paths_show_the_same(params: dict[str, object]) -> None:
    """Every field of every iteration, also after an update and in both ablations."""
    problem = dabp.generate("random-cop", variables=12, density=0.4, seed=1)
    compiled, plain = observed(problem, **params), observed(problem, **params, backend="plain")
    assert [each.iteration for each in compiled] == list(range(25))
    for ours, theirs in zip(compiled, plain, strict=True):
        for name in ours._fields:
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), 1e-6, 1e-8, err_msg=name)
    sums = np.bincount(ours.weight_edge, ours.weights)
    np.testing.assert_allclose(sums[sums > 0], 1.0)  # Eq. 13
    assert (ours.edge_variable[ours.weight_edge] == ours.edge_variable[ours.weight_neighbour]).all()
    assert (ours.weight_edge != ours.weight_neighbour).all()


def test_watching_changes_nothing() -> None:
    """The same costs with and without an observer; the trace has the range of the window's last iteration."""
    problem = dabp.generate("random-cop", variables=12, density=0.4, seed=1)
    found: list[Observation] = []
    watched = dabp.solve(problem, "dabp", max_iterations=40, observe=found.append)
    alone = dabp.solve(problem, "dabp", max_iterations=40)
    np.testing.assert_array_equal(watched.trace.iteration_costs, alone.trace.iteration_costs)
    record = next(record for record in alone.trace.records if "damping_min" in record)
    assert found[record["iteration"] - 1].damping.min() == pytest.approx(record["damping_min"])


def test_other_solvers_have_nothing_to_see() -> None:
    """Said in a sentence."""
    with pytest.raises(dabp.ParameterError, match="observe is for the solver dabp"):
        dabp.solve(dabp.generate("random-cop", variables=40, density=0.4, seed=1), "dsa", observe=print)
