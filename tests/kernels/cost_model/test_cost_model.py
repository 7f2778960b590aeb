"""The compiled predictions are the network's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.cost_model import cost_model, repair
from dabp.kernels.cost_model.cost_model import level_tables
from dabp.kernels.cost_model.repair import Cycle, destroy
from dabp.lab.cost_model.microstructure import microstructure
from dabp.lab.cost_model.network import CostModel
from dabp.problem import Problem
from dabp.solvers.gat_pcm.cost_tables import structure
from dabp.solvers.gat_pcm.weights import fold
from tests.kernels.alone import alone
from tests.lab.cost_model.trees import large_model, tree_problem

elu = alone(cost_model.elu)
predict = alone(repair.predict)


def compiled_predictions(problem: Problem, model: CostModel) -> np.ndarray:
    """What the kernels predict for the root with everything destroyed."""
    parameters = fold({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    arrays = structure(problem, cost_scale=100.0)
    n, values = problem.num_variables, int(problem.domain_sizes.sum())
    cycle = Cycle(
        values=np.zeros(n, dtype=np.int64),
        position=np.empty(n, dtype=np.int64),
        penalised=np.empty(values),
        amount=np.empty(values, dtype=np.float32),
        assigned=np.empty(n, dtype=bool),
    )
    destroy(arrays, cycle, np.ones(n, dtype=bool), np.arange(n))
    tables = level_tables(arrays.level_amount, parameters)
    return predict(arrays, cycle, parameters, tables, 0, int(problem.domain_sizes[[1, 2, 4]].sum()))


@pytest.mark.parametrize("seed", range(5))
def test_kernel_predicts_what_the_network_predicts(seed: int) -> None:
    """The search decides by the model that was trained: equal up to what all values of a target share."""
    problem, subtree = tree_problem(np.random.default_rng(seed))
    model = large_model(seed)
    with torch.no_grad():
        expected = model(microstructure([subtree])).numpy()
    found = compiled_predictions(problem, model)
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=2e-3 * max(1, np.ptp(expected)))


def test_elu_is_right_to_its_promise() -> None:
    """exp(x) − 1 below zero and x above, to 1e-5, also far out and near zero."""
    x = np.concatenate([np.linspace(-40, 5, 999), [-1e-6, 0.0, 1e-6]]).astype(np.float32)
    found = x - 1
    elu(found, np.ones_like(x))
    np.testing.assert_allclose(found, np.where(x > 0, x, np.expm1(x)), atol=1e-5)
