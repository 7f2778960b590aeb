"""The smoothed cost is an expectation, Theorem 1 holds, and padding changes neither."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.solvers.dabp.loss import Loss, entropy, probabilities, theorem1_bound
from dabp.solvers.dabp.structure import Structure
from tests.problems import all_assignments, random_problem


def finite_problem(seed: int):
    problem = random_problem(seed, maximize=False)
    return problem.replace(pool=np.where(np.isfinite(problem.pool), problem.pool, 3.0))


@pytest.mark.parametrize("seed", range(20))
def test_smoothed_cost_is_the_expected_cost(seed: int) -> None:
    """Eq. 14 equals the mean cost over all assignments drawn from the beliefs; Theorem 1 bounds its distance."""
    problem = finite_problem(seed)
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), perturbation=0.0)
    structure = Structure.from_graph(graph, problem)
    loss = Loss(structure)
    beliefs = np.random.default_rng(seed).normal(size=(problem.num_variables, structure.width))
    beliefs[~structure.domain_mask] = np.inf
    chances = probabilities(beliefs)
    rows = all_assignments(problem)
    weights = chances[np.arange(problem.num_variables), rows].prod(axis=1)
    constant = problem.constant + sum(problem.table(f).item() for f in np.flatnonzero(problem.arities == 0))
    smoothed = loss.smoothed_cost(chances) * graph.cost_scale + graph.shift + constant
    assert smoothed == pytest.approx(float(weights @ problem.cost(rows)), rel=1e-9, abs=1e-9)

    decoded = beliefs.argmin(1)
    own = chances[np.arange(problem.num_variables), decoded]
    bound = theorem1_bound(problem, decoded, own)
    assert abs(smoothed - problem.cost(decoded)) <= bound + 1e-9
    sizes = problem.domain_sizes.astype(float)
    assert bound <= theorem1_bound(problem, decoded, 1.0 / sizes) + 1e-9, "the paper's own bound is weaker"


@pytest.mark.parametrize("seed", range(8))
def test_gradient_is_the_slope(seed: int) -> None:
    """Of the smoothed cost and the entropy, along a random direction; any arity and mixed domains."""
    problem, rng = finite_problem(seed), np.random.default_rng(seed)
    structure = Structure.from_graph(FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64)), problem)
    loss, inside = Loss(structure), structure.domain_mask
    beliefs = np.where(inside, rng.normal(size=inside.shape), np.inf)
    direction = rng.normal(size=inside.shape)
    slope = (loss(beliefs + 1e-6 * direction) - loss(beliefs - 1e-6 * direction)) / 2e-6
    gradient = loss.gradient(beliefs)
    assert not gradient[~inside].any()
    assert float((gradient * direction)[inside].sum()) == pytest.approx(slope, rel=1e-6, abs=1e-8)


def without_factors(sizes: list[int]) -> Loss:
    """The loss of a problem of variables alone."""
    problem = finite_problem(3).replace(
        domain_sizes=sizes, scope_variables=[], scope_offsets=[0], pool=[], pool_offsets=[0], factor_table=[]
    )
    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float64), perturbation=0.0)
    return Loss(Structure.from_graph(graph, problem))


def test_entropy_is_in_bits_and_ignores_padding() -> None:
    """Uniform beliefs over 4 and 2 values have 2 and 1 bits; values that do not exist add nothing."""
    beliefs = np.array([[1.0, 1.0, 1.0, 1.0], [5.0, 5.0, np.inf, np.inf]])
    assert entropy(probabilities(beliefs)) == pytest.approx(1.5, abs=1e-5)
    assert without_factors([4, 2])(beliefs) == pytest.approx(0.15, abs=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_certain_beliefs_have_a_finite_gradient(dtype: type) -> None:
    """Values beyond a domain and values whose probability is 0 to the last bit give finite derivatives."""
    gradient = without_factors([3, 2]).gradient(np.array([[0.0, 1e4, 3.0], [0.0, 2.0, np.inf]], dtype))
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).max() > 0
