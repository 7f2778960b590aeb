# mypy: disable-error-code="untyped-decorator"
"""New variable→factor messages from damping and weighted sums (paper Eq. 6), and their gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.vectors import BLOCK, LANES
from dabp.kernels.decorators import inner, kernel, part
from dabp.kernels.elementary import FAST
from dabp.kernels.simd import full_like, least, load, minimum, splat, store, sum_of, where_negative

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

EXACT = {"contract", "nnan", "nsz"}
"""Liberties with arithmetic that leave sums in their order."""


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


@part(_nrt=False)
def _mixed(place: int, at: int, share: Any, unary: Floats, parts: Parts) -> Any:
    """λ v2f + (1 − λ)(unary + others) of a vector; `at` is its place in others."""
    rest = full_like(1.0, share) - share
    heard = load(unary, place, LANES) + load(parts.others, at, LANES)
    return share * load(parts.v2f, place, LANES) + rest * heard


@part(_nrt=False, fastmath=EXACT)
def composed(e: int, at: int, edges: Edges, parts: Parts, new: Floats) -> Any:
    """Write the new message of an edge, see `compose`; what it was shifted by.

    `parts.others` is flat here, and the edge's row in it begins at `at`.
    """
    sizes, alone, unary = edges
    damping, v2f, others = parts
    one = v2f.dtype.type(1.0)
    size, own, out, begin = sizes[e], unary[e], new[e], e * v2f.shape[1]
    if size >= BLOCK and not alone[e]:
        share, last = splat(damping, e, LANES), size - BLOCK
        lowest = tail = _mixed(begin + last, at + last, share, unary, parts)
        for x in range(0, last, BLOCK):
            value = _mixed(begin + x, at + x, share, unary, parts)
            store(new, begin + x, value)
            lowest = minimum(lowest, value)
        low = least(lowest)
        shift = full_like(low, tail)
        for x in range(0, last, BLOCK):
            store(new, begin + x, load(new, begin + x, LANES) - shift)
        store(new, begin + last, tail - shift)
    else:
        share = damping[e]
        for d in range(size):
            out[d] = own[d] if alone[e] else share * v2f[e, d] + (one - share) * (own[d] + others[at + d])
        low = out[0]
        for d in range(1, size):
            low = min(low, out[d])
        for d in range(size):
            out[d] -= low
    for d in range(size, len(out)):
        out[d] = 0.0
    return low


@kernel(fastmath=EXACT)
def compose(first: int, last: int, edges: Edges, parts: Parts, new: Floats) -> None:
    """Write λ v2f + (1 − λ)(unary + others) into `new` [E, D] for edges first..last − 1.

    Messages are shifted to minimum 0 over the edge's domain and 0 beyond it. The last vector of a message ends with
    its domain, and overlaps the one before.
    """
    flat = Parts(parts.damping, parts.v2f, parts.others.reshape(-1))
    for e in range(first, last):
        composed(e, e * new.shape[1], edges, flat, new)


@part(_nrt=False)
def _backward(
    e: int,
    at: int,
    size: int,
    once: Floats,
    unary: Floats,
    parts: Parts,
    new: Floats,
    gradient: Floats,
    gradients: Parts,
) -> None:
    """The gradients of an edge whose domain is at least a vector long; `once` masks what the last vector has twice."""
    begin, share = e * new.shape[1], splat(parts.damping, e, LANES)
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
        far = load(parts.v2f, place, LANES) - load(unary, place, LANES) - load(parts.others, at + x, LANES)
        of_share = of_share + here * far * counted
        store(gradients.v2f, place, share * here)
        store(gradients.others, at + x, rest * here)
    gradients.damping[e] = sum_of(of_share)


@inner
def once_masks(like: Floats) -> Floats:
    """What `composed_backward` takes: from each place a vector with 0 for what the last two vectors both have."""
    once = np.ones(2 * BLOCK, like.dtype)
    once[:BLOCK] = like.dtype.type(0.0)
    return once


@part(_nrt=False, fastmath=FAST)
def composed_backward(
    e: int, at: int, once: Floats, edges: Edges, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """Write the gradients of an edge, see `compose_backward`; others and their gradients are flat as in `composed`."""
    sizes, alone, unary = edges
    damping, v2f, others = parts
    grad_damping, grad_v2f, grad_others = gradients
    zero, one = v2f.dtype.type(0.0), v2f.dtype.type(1.0)
    size, width, share, to_v2f = sizes[e], v2f.shape[1], damping[e], grad_v2f[e]
    if alone[e]:
        size = 0
        grad_damping[e] = zero
    elif size >= BLOCK:
        _backward(e, at, size, once, unary, parts, new, gradient, gradients)
    else:
        total, ties, of_share = zero, zero, zero
        for d in range(size):
            total += gradient[e, d]
            ties += one if new[e, d] == zero else zero
        shift = total / ties
        for d in range(size):
            here = gradient[e, d] - (shift if new[e, d] == zero else zero)
            of_share += here * (v2f[e, d] - unary[e, d] - others[at + d])
            to_v2f[d] = share * here
            grad_others[at + d] = (one - share) * here
        grad_damping[e] = of_share
    for d in range(size, width):
        to_v2f[d] = grad_others[at + d] = zero


@kernel(fastmath=FAST)
def compose_backward(
    first: int, last: int, edges: Edges, parts: Parts, new: Floats, gradient: Floats, gradients: Parts
) -> None:
    """Write the `gradients` of `compose` given that of `new`; a minimum's is shared by the values that have it."""
    once = once_masks(new)
    flat = Parts(parts.damping, parts.v2f, parts.others.reshape(-1))
    made = Parts(gradients.damping, gradients.v2f, gradients.others.reshape(-1))
    for e in range(first, last):
        composed_backward(e, e * new.shape[1], once, edges, flat, new, gradient, made)
