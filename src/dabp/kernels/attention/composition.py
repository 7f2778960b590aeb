# mypy: disable-error-code="untyped-decorator"
"""Beliefs (paper Eq. 15), and new variable→factor messages from damping and weighted sums (Eq. 6) with their gradients.

Variables and edges are independent, so a range of them is a thread's share. The last vector of a row ends with it, and
overlaps the one before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import BLOCK, LANES, Floats
from dabp.kernels.attention.one_variable import Integers, VariableEdges
from dabp.kernels.decorators import kernel, part
from dabp.kernels.elementary import FAST
from dabp.kernels.simd import full_like, least, load, minimum, splat, store, sum_of, where_negative


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
        if width < BLOCK:
            for x in range(width):
                total = unary[i, x]
                for m in range(len(edges)):
                    total += f2v[edges[m], x]
                result[i, x] = total
        for x in range(0, width if width >= BLOCK else 0, BLOCK):
            begin = min(x, width - BLOCK)
            whole = load(unary, i * width + begin, LANES)
            for m in range(len(edges)):
                whole = whole + load(f2v, edges[m] * width + begin, LANES)
            store(result, i * width + begin, whole)


@part(_nrt=False)
def _mixed(place: int, share: Any, unary: Floats, parts: Parts) -> Any:
    """λ v2f + (1 − λ)(unary + others) of a vector."""
    rest = full_like(1.0, share) - share
    received = load(unary, place, LANES) + load(parts.others, place, LANES)
    return share * load(parts.v2f, place, LANES) + rest * received


@kernel(fastmath={"contract", "nnan", "nsz"})  # sums stay in their order
def compose(first: int, last: int, edges: Edges, parts: Parts, new: Floats) -> None:
    """Write λ v2f + (1 − λ)(unary + others) into `new` [E, D] for edges first..last − 1.

    Messages are shifted to minimum 0 over the edge's domain and 0 beyond it.
    """
    sizes, alone, unary = edges
    damping, v2f, others = parts
    one = v2f.dtype.type(1.0)
    for e in range(first, last):
        size, own, out, begin = sizes[e], unary[e], new[e], e * v2f.shape[1]
        if size >= BLOCK and not alone[e]:
            share, last_place = splat(damping, e, LANES), begin + size - BLOCK
            lowest = tail = _mixed(last_place, share, unary, parts)
            for place in range(begin, last_place, BLOCK):
                value = _mixed(place, share, unary, parts)
                store(new, place, value)
                lowest = minimum(lowest, value)
            shift = full_like(least(lowest), tail)
            for place in range(begin, last_place, BLOCK):
                store(new, place, load(new, place, LANES) - shift)
            store(new, last_place, tail - shift)
        else:
            share = damping[e]
            for d in range(size):
                out[d] = own[d] if alone[e] else share * v2f[e, d] + (one - share) * (own[d] + others[e, d])
            low = out[0]
            for d in range(1, size):
                low = min(low, out[d])
            for d in range(size):
                out[d] -= low
        for d in range(size, len(out)):
            out[d] = 0.0


@part(_nrt=False)
def _backward(
    e: int, once: Floats, edges: Edges, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """The gradients of an edge whose domain is at least a vector long; `once` masks what the last vector has twice."""
    size, begin, share = edges.sizes[e], e * new.shape[1], splat(parts.damping, e, LANES)
    last = size - BLOCK
    rest = full_like(1.0, share) - share
    own = load(once, (size - 1) % BLOCK + 1, LANES)
    zero, one = full_like(0.0, share), full_like(1.0, share)
    total = load(gradient, begin + last, LANES) * own
    ties = where_negative(zero - load(new, begin + last, LANES), zero, own)
    for x in range(0, last, BLOCK):
        total = total + load(gradient, begin + x, LANES)
        ties = ties + where_negative(zero - load(new, begin + x, LANES), zero, one)
    shift = full_like(sum_of(total) / sum_of(ties), share)
    of_share = zero
    for n in range(0, size, BLOCK):
        x, counted = (n, one) if n < last else (last, own)
        place = begin + x
        here = load(gradient, place, LANES) - where_negative(zero - load(new, place, LANES), zero, shift)
        far = load(parts.v2f, place, LANES) - load(edges.unary, place, LANES) - load(parts.others, place, LANES)
        of_share = of_share + here * far * counted
        store(gradients.v2f, place, share * here)
        store(gradients.others, place, rest * here)
    gradients.damping[e] = sum_of(of_share)


@kernel(fastmath=FAST)
def compose_backward(
    first: int, last: int, edges: Edges, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """Write the `gradients` of `compose` given that of `new`; a minimum's is shared by the values that have it."""
    sizes, alone, unary = edges
    damping, v2f, others = parts
    zero, one = v2f.dtype.type(0.0), v2f.dtype.type(1.0)
    once = np.ones(2 * BLOCK, new.dtype)
    once[:BLOCK] = zero
    for e in range(first, last):
        size, share, to_v2f, to_others = sizes[e], damping[e], gradients.v2f[e], gradients.others[e]
        if alone[e]:
            size = 0
            gradients.damping[e] = zero
        elif size >= BLOCK:
            _backward(e, once, edges, parts, new, gradient, gradients)
        else:
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
            gradients.damping[e] = of_share
        for d in range(size, len(to_v2f)):
            to_v2f[d] = to_others[d] = zero
