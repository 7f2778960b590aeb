# mypy: disable-error-code="untyped-decorator"
"""New variable→factor messages from damping and weighted sums (paper Eq. 6), and their gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel
from dabp.kernels.elementary import FAST

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel(fastmath={"contract", "nnan", "nsz"})
def compose(
    first: int,
    last: int,
    sizes: Integers,
    alone: Flags,
    unary: Floats,
    damping: Floats,
    v2f: Floats,
    others: Floats,
    new: Floats,
) -> None:
    """Write λ v2f + (1 − λ)(unary + others), shifted to minimum 0 over the edge's domain and 0 beyond it.

    [E] thrice (domain size, whether the variable has one factor, λ), [E, D] thrice → [E, D].
    """
    one = v2f.dtype.type(1.0)
    for e in range(first, last):
        size, own, out = sizes[e], unary[e], new[e]
        if alone[e]:
            for d in range(size):
                out[d] = own[d]
        else:
            share = damping[e]
            for d in range(size):
                out[d] = share * v2f[e, d] + (one - share) * (own[d] + others[e, d])
        least = out[0]
        for d in range(1, size):
            least = min(least, out[d])
        for d in range(size):
            out[d] -= least
        for d in range(size, len(out)):
            out[d] = 0.0


@kernel(fastmath=FAST)
def compose_backward(
    first: int,
    last: int,
    sizes: Integers,
    alone: Flags,
    unary: Floats,
    damping: Floats,
    v2f: Floats,
    others: Floats,
    new: Floats,
    gradient: Floats,
    grad_damping: Floats,
    grad_v2f: Floats,
    grad_others: Floats,
) -> None:
    """Write the gradients of `compose`; the minimum's is shared evenly among the values that have it."""
    zero, one = v2f.dtype.type(0.0), v2f.dtype.type(1.0)
    for e in range(first, last):
        size, share, to_v2f, to_others = sizes[e], damping[e], grad_v2f[e], grad_others[e]
        grad_damping[e] = zero
        if alone[e]:
            to_v2f[:] = zero
            to_others[:] = zero
            continue
        total, ties, of_share = zero, zero, zero
        for d in range(size):
            total += gradient[e, d]
            ties += one if new[e, d] == zero else zero
        shift = total / ties
        for d in range(size):
            here = gradient[e, d] - (shift if new[e, d] == zero else zero)
            of_share += here * (v2f[e, d] - unary[e, d] - others[e, d])
            to_v2f[d] = share * here
            to_others[d] = (one - share) * here
        for d in range(size, len(to_v2f)):
            to_v2f[d] = to_others[d] = zero
        grad_damping[e] = of_share
