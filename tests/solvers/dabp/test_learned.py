"""What is learned, and that nothing else differs from belief propagation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dabp
from dabp.problem import Problem
from dabp.solvers.base import Budget, Search
from dabp.solvers.belief_propagation.solver import BeliefPropagation
from dabp.solvers.dabp import Dabp
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.learned import Inference
from dabp.solvers.dabp.messages import Propagation
from dabp.solvers.dabp.network import Network
from tests.problems import random_problem
from tests.solvers.dabp.graphs import CPU, mixed, structure_of

ITERATIONS = 60


def costs(search: Search) -> np.ndarray:
    """Of every iteration until the end or `ITERATIONS`."""
    done: list[float] = []
    while len(done) < ITERATIONS:
        step = search.step()
        done += step.costs.tolist()
        if step.finished is not None:
            break
    search.close()
    return np.array(done[:ITERATIONS])


def constant_damping(problem: Problem, seed: int, **options: object) -> Search:
    """DABP that does not learn, whose scores are all σ(0): λ = 1/2 everywhere."""
    solver = Dabp(learning=False, restarts=1, dtype="float64", **options)
    search = solver.start(problem, seed=seed, budget=Budget(max_iterations=ITERATIONS))
    state = search.state_dict()
    state["parameter.score"][:] = 0.0
    state["parameter.score_bias"][:] = 0.0
    search.load_state_dict(state)
    return search


def with_double_precision(problem: Problem) -> Problem:
    """A forbidden combination more, on two variables of its own: BP then calculates in float64."""
    sizes = [*problem.domain_sizes.tolist(), 2, 2]
    return problem.replace(
        domain_sizes=sizes,
        scope_variables=[*problem.scope_variables.tolist(), len(sizes) - 2, len(sizes) - 1],
        scope_offsets=[*problem.scope_offsets.tolist(), len(problem.scope_variables) + 2],
        pool=[*problem.pool.tolist(), 0.0, 1.0, 2.0, np.inf],
        pool_offsets=[*problem.pool_offsets.tolist(), len(problem.pool) + 4],
        factor_table=[*problem.factor_table.tolist(), len(problem.pool_offsets) - 1],
        variable_names=None,
        factor_names=None,
        labels=None,
    )


@pytest.mark.parametrize(
    "problem",
    [
        *(random_problem(seed, maximize=False) for seed in (2, 5, 8, 11, 14, 17)),
        dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=3),
        dabp.generate("scale-free", variables=25, m0=4, m1=3, domain=5, seed=3),
    ],
    ids=lambda problem: problem.name,
)
@pytest.mark.parametrize("weights", ["uniform", "learned"])
def test_without_learning_it_is_dbp_scfg(problem: Problem, weights: str) -> None:
    """Uniform weights (given, or from equal scores) and constant damping: every iteration's cost is dbp-scfg's."""
    problem = with_double_precision(problem)
    ours = costs(constant_damping(problem, 4, weights=weights, max_iterations_per_restart=1000, update_interval=25))
    solver = BeliefPropagation(damping=0.5, split_ratio=0.95, exact_forests=False)
    theirs = costs(solver.start(problem, seed=4, budget=Budget(max_iterations=ITERATIONS)))
    shorter = min(len(ours), len(theirs))  # DABP also ends when costs have settled
    assert shorter > 1
    np.testing.assert_allclose(ours[:shorter], theirs[:shorter], rtol=1e-12)


def test_ablations_learn_less() -> None:
    """Uniform weights sum all other messages; the mean damping is that of edges with something to damp."""
    structure = structure_of(mixed())
    backend = CpuBackend(structure)
    network = Network(structure, 4, torch.Generator().manual_seed(0), CPU).double().prepared()
    plain = Inference(structure, backend, CPU, "learned", "edge")
    propagation = Propagation(structure, backend, CPU, plain)
    messages = propagation.iterate(propagation.start(), network).messages
    made = propagation.iterate(messages, network)
    arguments = network, messages.v2f, made.f2v, made.beliefs, plain.start()
    learned, _ = plain(*arguments)
    uniform, _ = Inference(structure, backend, CPU, "uniform", "edge")(*arguments)
    mean, _ = Inference(structure, backend, CPU, "learned", "mean")(*arguments)
    torch.testing.assert_close(uniform.damping, learned.damping)
    torch.testing.assert_close(mean.others, learned.others)
    several = ~torch.from_numpy(structure.alone)
    torch.testing.assert_close(mean.damping[several], learned.damping[several].mean().expand(int(several.sum())))
    for edge, variable in enumerate(structure.graph.edge_variable):
        others = [e for e in np.flatnonzero(structure.graph.edge_variable == variable) if e != edge]
        torch.testing.assert_close(uniform.others[edge], made.f2v[others].sum(0))
