# mypy: disable-error-code="untyped-decorator"
"""One variable's attention, every target with every neighbour: for small degrees and keys far apart.

The formulas are those of `attentive_messages`. Nothing of size d × d is stored: scores are made row by row, forwards
and again backwards.
"""

from __future__ import annotations

from dabp.kernels.attention.one_variable import Floats, Gathered, Results
from dabp.kernels.attention.vectors import BLOCK, LANES, sigmoid_of, whole_blocks
from dabp.kernels.decorators import part
from dabp.kernels.elementary import sigmoid
from dabp.kernels.simd import full_like, load, splat, store, sum_of
from dabp.kernels.simd_functions import exponential_of


@part()
def _mark(degree: int, valid: Floats) -> None:
    """1 for every neighbour, 0 beyond, up to whole blocks."""
    valid[:degree] = valid.dtype.type(1.0)
    valid[degree : whole_blocks(degree)] = valid.dtype.type(0.0)


@part()
def all_pairs(degree: int, variable: Gathered, rows: Floats, results: Results) -> None:
    """Write the results of one variable; `rows` [4, d] is scratch."""
    queries, keys, messages = variable
    damping, out = results
    wide, heads, kind = messages.shape[1], len(queries), queries.dtype.type
    share, others = kind(1.0 / heads), kind(degree - 1)
    weights, scores, powers, valid = rows[0], rows[1], rows[2], rows[3]
    _mark(degree, valid)
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
            mixed += sigmoid(own - (sum_of(score_sum) - own) / others)
            scale = full_like(share * others / (sum_of(total) - powers[target]), total)
            for m in range(0, degree, BLOCK):
                store(weights, m, load(weights, m, LANES) + scale * load(powers, m, LANES))
        weights[target] = kind(0.0)
        damping[target] = mixed * share
        for x in range(0, wide, BLOCK):
            total = splat(weights, 0, LANES) * load(messages, x, LANES)
            for m in range(1, degree):
                total = total + splat(weights, m, LANES) * load(messages, m * wide + x, LANES)
            store(out, target * wide + x, total)


@part()
def all_pairs_backward(
    degree: int, variable: Gathered, rows: Floats, columns: Floats, given: Results, gradients: Gathered
) -> None:
    """Gradients of `all_pairs`, added to those of messages and written to the others.

    `rows` [5, d] and `columns` [wide, d] are scratch.
    """
    queries, keys, messages = variable
    wide, stride, heads, kind = messages.shape[1], columns.shape[1], len(queries), queries.dtype.type
    share, others, one = kind(1.0 / heads), kind(degree - 1), kind(1.0)
    weights, scores, powers, dots, valid = rows[0], rows[1], rows[2], rows[3], rows[4]
    whole = whole_blocks(degree)
    _mark(degree, valid)
    gradients.keys[:, :whole] = columns[:, degree:whole] = kind(0.0)
    for m in range(degree):
        for x in range(wide):
            columns[x, m] = messages[m, x]
    for target in range(degree):
        gradient = given.summed[target]
        for m in range(0, degree, BLOCK):
            total = splat(gradient, 0, LANES) * load(columns, m, LANES)
            for x in range(1, wide):
                total = total + splat(gradient, x, LANES) * load(columns, x * stride + m, LANES)
            store(dots, m, total)
            store(weights, m, full_like(0.0, total))
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
            damped = sigmoid(own - (sum_of(score_sum) - own) / others)
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
        for x in range(0, wide, BLOCK):
            passed = load(gradient, x, LANES)
            for m in range(degree):
                into = load(gradients.messages, m * wide + x, LANES)
                store(gradients.messages, m * wide + x, into + splat(weights, m, LANES) * passed)
