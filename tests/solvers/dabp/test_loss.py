"""The smoothed cost is an expectation, Theorem 1 holds, and padding changes neither."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.graph import FactorGraph
from dabp.solvers.dabp.loss import Loss, theorem1_bound
from dabp.solvers.dabp.structure import Structure
from tests.problems import all_assignments, random_problem

CPU = torch.device("cpu")


def finite_problem(seed: int):
    problem = random_problem(seed, maximize=False)
    return problem.replace(pool=np.where(np.isfinite(problem.pool), problem.pool, 3.0))


@pytest.mark.parametrize("seed", range(20))
def test_smoothed_cost_is_the_expected_cost(seed: int) -> None:
    """Eq. 14 equals the mean cost over all assignments drawn from the beliefs; Theorem 1 bounds its distance."""
    problem = finite_problem(seed)
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), perturbation=0.0)
    structure = Structure.from_graph(graph, problem)
    loss = Loss(structure, CPU)
    beliefs = torch.randn(problem.num_variables, structure.width + 3, dtype=torch.float64)
    beliefs = beliefs[:, : structure.width].masked_fill(~torch.from_numpy(structure.domain_mask), torch.inf)
    chances = loss.probabilities(beliefs)
    rows = all_assignments(problem)
    weights = chances.numpy()[np.arange(problem.num_variables), rows].prod(axis=1)
    constant = problem.constant + sum(problem.table(f).item() for f in np.flatnonzero(problem.arities == 0))
    smoothed = float(loss.smoothed_cost(chances)) * graph.cost_scale + constant
    assert smoothed == pytest.approx(float(weights @ problem.cost(rows)), rel=1e-9, abs=1e-9)

    decoded = beliefs.argmin(1).numpy()
    own = chances.numpy()[np.arange(problem.num_variables), decoded]
    bound = theorem1_bound(problem, decoded, own)
    assert abs(smoothed - problem.cost(decoded)) <= bound + 1e-9
    sizes = problem.domain_sizes.astype(float)
    assert bound <= theorem1_bound(problem, decoded, 1.0 / sizes) + 1e-9, "the paper's own bound is weaker"


def test_entropy_is_in_bits_and_ignores_padding() -> None:
    """Uniform beliefs over 4 and 2 values have 2 and 1 bits; values that do not exist add nothing."""
    problem = finite_problem(3).replace(
        domain_sizes=[4, 2], scope_variables=[], scope_offsets=[0], pool=[], pool_offsets=[0], factor_table=[]
    )
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), perturbation=0.0)
    loss = Loss(Structure.from_graph(graph, problem), CPU)
    beliefs = torch.tensor([[1.0, 1.0, 1.0, 1.0], [5.0, 5.0, torch.inf, torch.inf]], dtype=torch.float64)
    assert float(loss.entropy(loss.probabilities(beliefs))) == pytest.approx(1.5, abs=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_certain_beliefs_have_a_finite_gradient(dtype: torch.dtype) -> None:
    """Values beyond a domain and values whose probability is 0 to the last bit give finite derivatives."""
    problem = finite_problem(3).replace(
        domain_sizes=[3, 2], scope_variables=[], scope_offsets=[0], pool=[], pool_offsets=[0], factor_table=[]
    )
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), perturbation=0.0)
    loss = Loss(Structure.from_graph(graph, problem), CPU)
    beliefs = torch.tensor([[0.0, 1e4, 3.0], [0.0, 2.0, torch.inf]], dtype=dtype, requires_grad=True)
    loss.entropy(loss.probabilities(beliefs)).backward()
    assert beliefs.grad.isfinite().all()
    assert beliefs.grad.abs().max() > 0
