# mypy: disable-error-code="untyped-decorator"
"""New variable→factor messages from damping and weighted sums (paper Eq. 6), and their gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.one_variable import BLOCK, LANES
from dabp.kernels.decorators import kernel, part
from dabp.kernels.elementary import FAST
from dabp.kernels.simd import full_like, least, load, minimum, splat, store, sum_of, where_negative

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


@part()
def _mixed(place: int, share: Any, unary: Floats, parts: Parts) -> Any:
    """λ v2f + (1 − λ)(unary + others) of a vector."""
    rest = full_like(1.0, share) - share
    heard = load(unary, place, LANES) + load(parts.others, place, LANES)
    return share * load(parts.v2f, place, LANES) + rest * heard


@kernel(fastmath={"contract", "nnan", "nsz"})
def compose(first: int, last: int, edges: Edges, parts: Parts, new: Floats) -> None:
    """Write λ v2f + (1 − λ)(unary + others) into `new` [E, D] for edges first..last − 1.

    Messages are shifted to minimum 0 over the edge's domain and 0 beyond it. The last vector of a message ends with
    its domain, and overlaps the one before.
    """
    sizes, alone, unary = edges
    damping, v2f, others = parts
    one = v2f.dtype.type(1.0)
    for e in range(first, last):
        size, own, out = sizes[e], unary[e], new[e]
        if size >= BLOCK and not alone[e]:
            begin, share = e * v2f.shape[1], splat(damping, e, LANES)
            end = begin + size - BLOCK
            lowest = tail = _mixed(end, share, unary, parts)
            for place in range(begin, end, BLOCK):
                value = _mixed(place, share, unary, parts)
                store(new, place, value)
                lowest = minimum(lowest, value)
            shift = full_like(least(lowest), tail)
            for place in range(begin, end, BLOCK):
                store(new, place, load(new, place, LANES) - shift)
            store(new, end, tail - shift)
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


@part()
def _backward(
    e: int, size: int, once: Floats, unary: Floats, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """The gradients of an edge whose domain is at least a vector long; `once` masks what the last vector has twice."""
    begin, share = e * new.shape[1], splat(parts.damping, e, LANES)
    end = begin + size - BLOCK
    rest = full_like(1.0, share) - share
    own = load(once, (size - 1) % BLOCK + 1, LANES)
    zero, one = full_like(0.0, share), full_like(1.0, share)
    total = load(gradient, end, LANES) * own
    ties = where_negative(zero - load(new, end, LANES), zero, own)
    for place in range(begin, end, BLOCK):
        total = total + load(gradient, place, LANES)
        ties = ties + where_negative(zero - load(new, place, LANES), zero, one)
    shift = full_like(sum_of(total) / sum_of(ties), share)
    of_share = zero
    for n in range(begin, end + BLOCK, BLOCK):
        place, counted = (n, one) if n < end else (end, own)
        here = load(gradient, place, LANES) - where_negative(zero - load(new, place, LANES), zero, shift)
        far = load(parts.v2f, place, LANES) - load(unary, place, LANES) - load(parts.others, place, LANES)
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
    grad_damping, grad_v2f, grad_others = gradients
    zero, one = v2f.dtype.type(0.0), v2f.dtype.type(1.0)
    once = np.ones(2 * BLOCK, v2f.dtype)
    once[:BLOCK] = zero
    for e in range(first, last):
        size, share, to_v2f, to_others = sizes[e], damping[e], grad_v2f[e], grad_others[e]
        if alone[e]:
            grad_damping[e] = zero
            to_v2f[:] = zero
            to_others[:] = zero
            continue
        if size >= BLOCK:
            _backward(e, size, once, unary, parts, new, gradient, gradients)
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
            grad_damping[e] = of_share
        for d in range(size, len(to_v2f)):
            to_v2f[d] = to_others[d] = zero
