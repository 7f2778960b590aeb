"""What the trace keeps of a window: its loss, Theorem 1's bound, the range of damping factors and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.problem.columns import nullary_constant
from dabp.solvers.dabp.loss import Loss, probabilities, theorem1_bound
from dabp.solvers.dabp.window import Window


def record_of(window: Window, effective: list[int], loss: Loss, cost_scale: float) -> dict[str, Any]:
    """Facts about the best effective iteration, and about what was learned in the last one of the window.

    Costs are in the problem's units; the loss, which the caller knows, is in scaled ones.
    """
    return _quality(window, effective, loss, cost_scale) | _learned(window)


def _quality(window: Window, effective: list[int], loss: Loss, cost_scale: float) -> dict[str, Any]:
    if not effective:
        return {}
    best, problem = effective[0], window.problem
    with np.errstate(all="ignore"):
        chances = probabilities(window.beliefs[best])
        smoothed = loss.smoothed_cost(chances) * cost_scale
    own = np.take_along_axis(chances, window.assignments[best][:, None], 1)[:, 0]
    bound = theorem1_bound(problem, window.assignments[best], own.astype(np.float64))
    cost = float(window.costs[best])
    return {
        "smoothed_cost": smoothed + nullary_constant(problem),
        "bound_theorem1": bound if np.isfinite(problem.pool).all() else None,
        "cost": cost if np.isfinite(cost) else None,
    }


def _learned(window: Window) -> dict[str, Any]:
    damping, low, high = window.unrolled.learned()
    record = {}
    if len(damping):
        record = {f"damping_{name}": float(getattr(damping, name)()) for name in ("min", "mean", "max")}
    return record | {"weight_min": low, "weight_mean": 1.0, "weight_max": high}
