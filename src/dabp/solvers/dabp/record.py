"""What the trace keeps of a window: its loss, Theorem 1's bound, the range of damping factors and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from dabp.kernels.attention.weight_range import weight_range
from dabp.problem.columns import nullary_constant
from dabp.solvers.dabp.learned import Inference, Learned
from dabp.solvers.dabp.loss import Loss, theorem1_bound
from dabp.solvers.dabp.structure import Structure
from dabp.solvers.dabp.window import Window


@torch.no_grad()
def record_of(
    window: Window, effective: list[int], loss: Loss, learned: Learned, inference: Inference, structure: Structure
) -> dict[str, Any]:
    """Facts about the best effective iteration, and about what was learned in the last one of the window.

    Costs are in the problem's units; the loss, which the caller knows, is in scaled ones.
    """
    return _quality(window, effective, loss, structure) | _learned(learned, inference, structure)


def _quality(window: Window, effective: list[int], loss: Loss, structure: Structure) -> dict[str, Any]:
    if not effective:
        return {}
    best, problem = effective[0], window.problem
    chances = loss.probabilities(window.beliefs[best].detach())
    own = chances.gather(1, torch.from_numpy(window.assignments[best])[:, None].to(chances.device))
    smoothed = float(loss.smoothed_cost(chances)) * structure.graph.cost_scale
    bound = theorem1_bound(problem, window.assignments[best], own[:, 0].double().cpu().numpy())
    cost = float(window.costs[best])
    return {
        "smoothed_cost": smoothed + nullary_constant(problem),
        "bound_theorem1": bound if np.isfinite(problem.pool).all() else None,
        "cost": cost if np.isfinite(cost) else None,
    }


def _learned(learned: Learned, inference: Inference, structure: Structure) -> dict[str, Any]:
    low, high = 1.0, 1.0
    if learned.held is not None:
        low, high = inference.backend.held_range(learned.held)
    elif inference.weights == "learned":
        query, key = learned.query.detach().cpu().numpy(), learned.key.detach().cpu().numpy()
        low, high = weight_range(structure.by_variable, query, key)
    damping = learned.damping[inference.several]
    record = {}
    if len(damping):
        record = {f"damping_{name}": float(getattr(damping, name)()) for name in ("min", "mean", "max")}
    return record | {"weight_min": float(low), "weight_mean": 1.0, "weight_max": float(high)}
