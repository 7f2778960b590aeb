# mypy: disable-error-code="untyped-decorator"
"""The best completion of a partial assignment by an elimination's messages, and what other values cost, compiled."""

from __future__ import annotations

import numpy as np

from dabp.kernels.decorators import kernel
from dabp.kernels.elimination.mini_bucket_plan import Buckets, Floats, Functions, Ints


@kernel
def complete(
    order: Ints,
    sizes: Ints,
    functions: Functions,
    buckets: Buckets,
    pool: Floats,
    below: int,
    values: Ints,
    rises: Floats,
) -> int:
    """Assign the variables of ranks `below` − 1 to 0, those above being known, each to its value of least rise.

    The rise of value x is what the lower bound by messages grows by when the variable of rank r takes x,

        rises[r, x] = Σ_{f in bucket r} f(x, s) − Σ_{Q in bucket r} m_Q(s),

    0 for the best value where no bucket is split. Returns the rank whose values are all forbidden, −1 if there is none.
    """
    starts, strides, first = functions.starts, functions.strides, buckets.first
    for r in range(below - 1, -1, -1):
        size = sizes[order[r]]
        rises[r, :size] = 0.0
        bound = 0.0
        for b in range(first[r], first[r + 1]):
            for k in range(buckets.input_starts[b], buckets.input_starts[b + 1]):
                f = buckets.inputs[k]
                at = functions.bases[f]
                for i in range(starts[f] + 1, starts[f + 1]):
                    at += strides[i] * values[functions.variables[i]]
                for x in range(size):
                    rises[r, x] += pool[at + x * strides[starts[f]]]
            out = buckets.outputs[b]
            at = functions.bases[out]
            for i in range(starts[out], starts[out + 1]):
                at += strides[i] * values[functions.variables[i]]
            bound += pool[at]
        best = 0
        for x in range(size):
            rises[r, x] = max(rises[r, x] - bound, 0.0) if rises[r, x] < np.inf else np.inf
            if rises[r, x] < rises[r, best]:
                best = x
        if rises[r, best] == np.inf:
            return r
        values[order[r]] = best
    return -1
