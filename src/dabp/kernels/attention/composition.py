# mypy: disable-error-code="untyped-decorator"
"""New variable→factor messages from damping and weighted sums (paper Eq. 6), and their gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel
from dabp.kernels.elementary import FAST

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Edges(NamedTuple):
    """What never changes of each edge."""

    sizes: Integers
    """[E]: domain size of its variable."""
    alone: Flags
    """[E]: whether the variable has no other factor."""
    unary: Floats
    """[E, D]: unary costs of the variable, zero beyond its domain."""


class Parts(NamedTuple):
    """What a new message is made of, or the gradients of these."""

    damping: Floats
    """λ, [E]."""
    v2f: Floats
    """The message before, [E, D]."""
    others: Floats
    """The weighted sum of the other factors' messages, [E, D]."""


@kernel(fastmath={"contract", "nnan", "nsz"})
def compose(first: int, last: int, edges: Edges, parts: Parts, new: Floats) -> None:
    """Write λ v2f + (1 − λ)(unary + others) into `new` [E, D] for edges first..last − 1.

    Messages are shifted to minimum 0 over the edge's domain and 0 beyond it.
    """
    sizes, alone, unary = edges
    damping, v2f, others = parts
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
    first: int, last: int, edges: Edges, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """Write the `gradients` of `compose` given that of `new`; a minimum's is shared by the values that have it."""
    sizes, alone, unary = edges
    damping, v2f, others = parts
    grad_damping, grad_v2f, grad_others = gradients
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
