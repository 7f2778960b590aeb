# mypy: disable-error-code="untyped-decorator"
"""The attention of one variable: its arrays gathered from all edges, and every target with every neighbour.

d is the variable's degree, K the number of heads, D the largest domain and `wide` D rounded up to whole blocks. The
formulas are those of `attentive_messages`; all pairs are for small degrees and for keys far apart. Nothing of size
d × d is stored: scores are computed row by row, forwards and again backwards.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import BLOCK, LANES, Floats, product, sigmoid_of, whole_blocks
from dabp.kernels.decorators import array_inner, inner, part
from dabp.kernels.simd import full_like, load, splat, store, sum_of
from dabp.kernels.simd_functions import exponential_of

Integers = NDArray[np.int64]

MOST_NODES = 24
"""Interpolation with more nodes than this takes longer than all pairs."""


class VariableEdges(NamedTuple):
    """The edges of each variable and their factors, copies counted."""

    offsets: Integers  # [N + 1]: edges of variable i are ``edges[offsets[i]:offsets[i + 1]]``
    edges: Integers  # [E]
    factor: Integers  # [E]: the factor of each edge


class Inputs(NamedTuple):
    """What attention reads, or the gradients of that, whose terms are by edge."""

    heads: int  # K
    terms: Floats  # addends of Eq. 10, [F, 2K or more]: K of a factor as the target (queries), K as a neighbour (keys)
    f2v: Floats  # [E, D]


class Results(NamedTuple):
    """What attention computes for one variable or for all edges, or the gradients of that."""

    damping: Floats  # λ, [d] or [E]
    summed: Floats  # (d − 1) Σ w f2v, [d, wide] or [E, D]


class Gathered(NamedTuple):
    """`Inputs` of one variable, or their gradients; rows beyond d are space for larger degrees."""

    queries: Floats  # [K, d]
    keys: Floats  # [K, d]
    messages: Floats  # [d, wide], zero beyond D


class Scratch(NamedTuple):
    """Arrays that one variable after the other overwrites; R nodes of interpolation, at most `MOST_NODES`."""

    basis: Floats  # T_n(t_m), [R, d]
    sums: Floats  # [R, wide + BLOCK]
    at_nodes: Floats  # [R, wide + BLOCK]
    scores: Floats  # a at the nodes, [R, d]
    powers: Floats  # exp(a) at the nodes, [R, d]
    rows: Floats  # [7, d]
    # Of gradients alone:
    with_slope: Floats  # [R, wide + BLOCK]
    with_power: Floats  # [R, wide + BLOCK]
    dots: Floats  # [R, d]
    columns: Floats  # messages, or gradients of the sums, [wide, d]
    sloped: Floats  # [d, wide]


@inner
def gathered(largest: int, inputs: Inputs) -> Gathered:
    """Empty arrays for variables up to this degree."""
    heads, kind = inputs.heads, inputs.f2v.dtype
    wide = whole_blocks(inputs.f2v.shape[1])
    return Gathered(np.empty((heads, largest), kind), np.empty((heads, largest), kind), np.empty((largest, wide), kind))


@inner
def scratch_for(largest: int, wide: int, kind: Any) -> Scratch:
    """Empty arrays for variables up to this degree."""
    return Scratch(
        np.empty((MOST_NODES, largest), kind),
        np.empty((MOST_NODES, wide + BLOCK), kind),
        np.empty((MOST_NODES, wide + BLOCK), kind),
        np.empty((MOST_NODES, largest), kind),
        np.empty((MOST_NODES, largest), kind),
        np.empty((7, largest), kind),
        np.empty((MOST_NODES, wide + BLOCK), kind),
        np.empty((MOST_NODES, wide + BLOCK), kind),
        np.empty((MOST_NODES, largest), kind),
        np.empty((wide, largest), kind),
        np.empty((largest, wide), kind),
    )


@array_inner
def gather(edges: Integers, factor: Integers, inputs: Inputs, variable: Gathered) -> None:
    """Copy the inputs of a variable with these edges; the rest of the last block repeats the first of them."""
    gather_terms(edges, factor, inputs.terms, 0, variable.queries)
    gather_terms(edges, factor, inputs.terms, inputs.heads, variable.keys)
    gather_rows(edges, inputs.f2v, variable.messages)
    for m in range(len(edges), min(whole_blocks(len(edges)), variable.keys.shape[1])):
        for k in range(len(variable.keys)):
            variable.queries[k, m], variable.keys[k, m] = variable.queries[k, 0], variable.keys[k, 0]


@array_inner
def gather_terms(edges: Integers, factor: Integers, terms: Floats, begin: int, result: Floats) -> None:
    """K columns from column `begin` on, [F, …] → [K, d]."""
    for m in range(len(edges)):
        for k in range(len(result)):
            result[k, m] = terms[factor[edges[m]], begin + k]


@array_inner
def gather_rows(edges: Integers, by_edge: Floats, result: Floats) -> None:
    """[E, D] → [d, wide], zero beyond D."""
    width = by_edge.shape[1]
    for m in range(len(edges)):
        for x in range(result.shape[1]):
            result[m, x] = by_edge[edges[m], x] if x < width else by_edge.dtype.type(0.0)


@part(_nrt=False)
def mark(degree: int, valid: Floats) -> None:
    """1 for every neighbour, 0 beyond, up to whole blocks."""
    valid[:degree] = valid.dtype.type(1.0)
    valid[degree : whole_blocks(degree)] = valid.dtype.type(0.0)


@part(_nrt=False)
def all_pairs(degree: int, variable: Gathered, scratch: Scratch, results: Results) -> None:
    """Write the results of one variable."""
    queries, keys, messages = variable
    damping, out = results
    rows, heads, kind = scratch.rows, len(queries), queries.dtype.type
    share, others = kind(1.0 / heads), kind(degree - 1)
    weights, scores, powers, valid = rows[0], rows[1], rows[2], rows[3]
    mark(degree, valid)
    for target in range(degree):
        weights[: whole_blocks(degree)] = mixed = kind(0.0)
        for k in range(heads):
            query = splat(queries[k], target, LANES)
            total = score_sum = full_like(0.0, query)
            for m in range(0, degree, BLOCK):
                mask, score = load(valid, m, LANES), sigmoid_of(query + load(keys[k], m, LANES))
                power = exponential_of(score) * mask
                store(scores, m, score)
                store(powers, m, power)
                total = total + power
                score_sum = score_sum + score * mask
            own = scores[target]
            mixed += kind(1.0) / (kind(1.0) + math.exp((sum_of(score_sum) - own) / others - own))
            scale = full_like(share * others / (sum_of(total) - powers[target]), total)
            for m in range(0, degree, BLOCK):
                store(weights, m, load(weights, m, LANES) + scale * load(powers, m, LANES))
        weights[target] = kind(0.0)
        damping[target] = mixed * share
        product(rows[:1, :degree], messages[:degree], out[target : target + 1], True)


@part(_nrt=False)
def all_pairs_backward(degree: int, variable: Gathered, scratch: Scratch, given: Results, gradients: Gathered) -> None:
    """Gradients of `all_pairs`, added to those of messages and written to the others."""
    queries, keys, messages = variable
    rows, columns, heads, kind = scratch.rows, scratch.columns, len(queries), queries.dtype.type
    share, others, one = kind(1.0 / heads), kind(degree - 1), kind(1.0)
    weights, scores, powers, dots, valid = rows[0], rows[1], rows[2], rows[3], rows[4]
    whole = whole_blocks(degree)
    mark(degree, valid)
    gradients.keys[:, :whole] = columns[:, degree:whole] = kind(0.0)
    for m in range(degree):
        for x in range(messages.shape[1]):
            columns[x, m] = messages[m, x]
    for target in range(degree):
        gradient = given.summed[target : target + 1]
        product(gradient, columns, rows[3:4, :whole], True)
        weights[:whole] = kind(0.0)
        for k in range(heads):
            query, of_keys = splat(queries[k], target, LANES), gradients.keys[k]
            total = score_sum = products = full_like(0.0, query)
            for m in range(0, degree, BLOCK):
                score = sigmoid_of(query + load(keys[k], m, LANES)) * load(valid, m, LANES)
                power = exponential_of(score) * load(valid, m, LANES)
                store(scores, m, score)
                store(powers, m, power)
                total, score_sum = total + power, score_sum + score
                products = products + power * load(dots, m, LANES)
            own, own_power = scores[target], powers[target]
            inverse, own_slope = one / (sum_of(total) - own_power), own * (one - own)
            damped = one / (one + math.exp((sum_of(score_sum) - own) / others - own))
            of_own = given.damping[target] * share * damped * (one - damped)
            of_others = -of_own / others
            mean = full_like((sum_of(products) - own_power * dots[target]) * inverse, query)
            scale, rest = full_like(share * others * inverse, query), full_like(of_others, query)
            powers[target] = kind(0.0)
            of_query, flat = full_like(0.0, query), full_like(own_slope, query)
            for m in range(0, degree, BLOCK):
                weight, score = scale * load(powers, m, LANES), load(scores, m, LANES)
                store(weights, m, load(weights, m, LANES) + weight)
                slope, change = score * (full_like(1.0, score) - score), weight * (load(dots, m, LANES) - mean)
                store(of_keys, m, load(of_keys, m, LANES) + (change + rest) * slope)
                # Changes add up to 0, so the target's own slope may be taken off: the sum does not cancel then.
                of_query = of_query + change * (slope - flat) + rest * slope
            itself = (of_own - of_others) * own_slope
            gradients.queries[k, target] = sum_of(of_query) + itself
            of_keys[target] += itself
        product(rows[:1, :degree].T, gradient, gradients.messages[:degree], False)
