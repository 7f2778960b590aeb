"""The compiled predictions are the network's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.cost_model import repair
from dabp.kernels.cost_model.columns import Cycle
from dabp.kernels.cost_model.cost_model import level_tables
from dabp.kernels.cost_model.repair import destroy
from dabp.lab.cost_model.microstructure import microstructure
from dabp.lab.cost_model.network import CostModel
from dabp.problem import Problem
from dabp.solvers.gat_pcm.parameters import fold
from dabp.solvers.gat_pcm.structure import structure
from tests.kernels.alone import alone
from tests.lab.cost_model.trees import large_model, tree_problem

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
