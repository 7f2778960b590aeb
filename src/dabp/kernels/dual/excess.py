# mypy: disable-error-code="untyped-decorator"
"""Where an assignment costs more than the dual says it must, compiled.

For any messages Σ_i θ_i(x_i) + Σ_α θ_α(x_α) is what x costs, and Σ_i min θ_i + Σ_α min θ_α a bound: the gap between
them is the sum of what each variable and each factor is above its own minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel
from dabp.kernels.dual.certificate import _lowest_at
from dabp.kernels.dual.pairs import Pairs, _cost

Array = Any


@kernel
def pairs_excess(pairs: Pairs, m: Array, values: Array, excess: Array) -> None:
    """excess[i] = θ_i(x_i) − min θ_i + ½ Σ_α (θ_α(x_α) − min θ_α), α being the factors of variable i."""
    width = 0
    for i in range(len(pairs.domain)):
        width = max(width, pairs.row[i + 1] - pairs.row[i])
        excess[i] = 0.0
    scratch, cost = np.empty((3, width)), np.empty(width)
    for i in range(len(pairs.domain)):
        size, value = pairs.domain[i], values[i]
        for a in range(size):
            cost[a] = pairs.unary[pairs.row[i] + a]
        for p in range(pairs.start[i], pairs.start[i + 1]):
            for a in range(size):
                cost[a] += np.float64(m[pairs.message[p] + a])
        lowest = cost[0]
        for a in range(size):
            lowest = min(lowest, cost[a])
        excess[i] += cost[value] - lowest
        for p in range(pairs.start[i], pairs.middle[i]):
            j = pairs.other[p]
            moved = np.float64(m[pairs.message[p] + value]) + np.float64(m[pairs.other_message[p] + values[j]])
            paid = _cost(pairs, p, value, values[j], pairs.row[i + 1] - pairs.row[i]) - moved
            half = 0.5 * (paid - _lowest_at(pairs, p, i, m, scratch))
            excess[i] += half
            excess[j] += half
