"""First messages lean towards an assignment, in every variable's messages and nowhere in padding."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.message_layout import make_layout
from dabp.kernels.belief_propagation.warm_start import lean
from tests.kernels.belief_propagation.equations import mixed_problem


@pytest.mark.parametrize("lanes", [8, 16])
def test_every_other_value_is_charged(lanes: int) -> None:
    """Each padded message holds the charge but at the value, and zeros past the domain."""
    problem = mixed_problem(5, 13)
    variables = make_layout(problem, FactorGraph.from_problem(problem), lanes).variables
    assignment = np.random.default_rng(0).integers(problem.domain_sizes)
    v2f = np.full(variables.message_start[-1], np.nan)
    lean(variables, assignment, 1.5, v2f)
    for i, size in enumerate(problem.domain_sizes):
        width = variables.unary_start[i + 1] - variables.unary_start[i]
        expected = np.where(np.arange(width) < size, 1.5, 0.0)
        expected[assignment[i]] = 0.0
        messages = v2f[variables.message_start[i] : variables.message_start[i + 1]].reshape(-1, width)
        assert (messages == expected).all()
