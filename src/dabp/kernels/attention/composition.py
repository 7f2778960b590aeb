# mypy: disable-error-code="untyped-decorator"
"""Beliefs (paper Eq. 15), and new variable→factor messages from damping and weighted sums (Eq. 6) with their gradients.

Variables and edges are independent, so a range of them is a thread's share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import Floats
from dabp.kernels.attention.one_variable import Integers, VariableEdges
from dabp.kernels.decorators import kernel

FAST = {"contract", "reassoc", "nsz", "arcp", "nnan", "ninf"}
"""What a kernel on finite numbers may assume, so that sums vectorise."""


class Edges(NamedTuple):
    """What never changes of each edge."""

    sizes: Integers  # [E]: domain size of its variable
    alone: NDArray[np.bool_]  # [E]: whether the variable has no other factor
    unary: Floats  # [E, D]: unary costs of the variable, zero beyond its domain


class Parts(NamedTuple):
    """What a new message is computed from, or the gradients of these."""

    damping: Floats  # λ, [E]
    v2f: Floats  # the message before, [E, D]
    others: Floats  # the weighted sum of the other factors' messages, [E, D]


@kernel
def beliefs(first: int, last: int, around: VariableEdges, unary: Floats, f2v: Floats, result: Floats) -> None:
    """Write unary costs + Σ of f2v messages, in the order of the edges, [N, D], for variables first..last − 1."""
    width = result.shape[1]
    for i in range(first, last):
        edges = around.edges[around.offsets[i] : around.offsets[i + 1]]
        total = result[i]
        for x in range(width):
            total[x] = unary[i, x]
        for m in range(len(edges)):
            message = f2v[edges[m]]
            for x in range(width):
                total[x] += message[x]


@kernel(fastmath={"contract", "nnan", "nsz"})  # sums stay in their order
def compose(first: int, last: int, edges: Edges, parts: Parts, new: Floats) -> None:
    """Write λ v2f + (1 − λ)(unary + others) into `new` [E, D] for edges first..last − 1.

    Messages are shifted to minimum 0 over the edge's domain and 0 beyond it.
    """
    sizes, alone, unary = edges
    damping, v2f, others = parts
    one = v2f.dtype.type(1.0)
    for e in range(first, last):
        size, own, share, out = sizes[e], unary[e], damping[e], new[e]
        for d in range(size):
            out[d] = own[d] if alone[e] else share * v2f[e, d] + (one - share) * (own[d] + others[e, d])
        low = out[0]
        for d in range(1, size):
            low = min(low, out[d])
        for d in range(size):
            out[d] -= low
        for d in range(size, len(out)):
            out[d] = 0.0


@kernel(fastmath=FAST)
def compose_backward(
    first: int, last: int, edges: Edges, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """Write the `gradients` of `compose` given that of `new`; a minimum's is shared by the values that have it."""
    sizes, alone, unary = edges
    damping, v2f, others = parts
    zero, one = v2f.dtype.type(0.0), v2f.dtype.type(1.0)
    for e in range(first, last):
        size, share, to_v2f, to_others = sizes[e], damping[e], gradients.v2f[e], gradients.others[e]
        if alone[e]:
            size = 0
            gradients.damping[e] = zero
        else:
            total, ties, of_share = zero, zero, zero
            for d in range(size):
                total += gradient[e, d]
                ties += one if new[e, d] == zero else zero
            shift = total / ties
            for d in range(size):  # writes in this loop could change the order of the sum
                here = gradient[e, d] - (shift if new[e, d] == zero else zero)
                of_share += here * (v2f[e, d] - unary[e, d] - others[e, d])
            for d in range(size):
                here = gradient[e, d] - (shift if new[e, d] == zero else zero)
                to_v2f[d] = share * here
                to_others[d] = (one - share) * here
            gradients.damping[e] = of_share
        for d in range(size, len(to_v2f)):
            to_v2f[d] = to_others[d] = zero
