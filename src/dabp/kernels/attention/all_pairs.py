# mypy: disable-error-code="untyped-decorator"
"""One variable's attention, every target with every neighbour: for small degrees and keys far apart.

The formulas are those of `attentive_messages`. Nothing of size d × d is stored: scores are made row by row, forwards
and again backwards.
"""

from __future__ import annotations

from dabp.kernels.attention.one_variable import BLOCK, Floats, Gathered, Results
from dabp.kernels.decorators import part
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential


@part(fastmath=FAST)
def all_pairs(degree: int, variable: Gathered, rows: Floats, results: Results) -> None:
    """Write the results of one variable; `rows` [2, d] is scratch."""
    queries, keys, messages = variable
    damping, out = results
    wide = messages.shape[1]
    heads, kind = len(queries), queries.dtype.type
    share, others, zero = kind(1.0 / heads), kind(degree - 1), kind(0.0)
    weights, powers = rows[0], rows[1]
    for target in range(degree):
        weights[:degree] = zero
        mixed = zero
        for k in range(heads):
            ours, row = queries[k, target], keys[k]
            total = score_sum = zero
            for m in range(degree):
                score = sigmoid(ours + row[m])
                power = unit_exponential(score)
                powers[m] = power
                total += power
                score_sum += score
            own = sigmoid(ours + row[target])
            mixed += sigmoid(own - (score_sum - own) / others)
            scale = share * others / (total - powers[target])
            for m in range(degree):
                weights[m] += scale * powers[m]
        weights[target] = zero
        damping[target] = mixed * share
        into = out[target]
        for block in range(0, wide, BLOCK):
            for c in range(BLOCK):
                into[block + c] = zero
            for m in range(degree):
                weight = weights[m]
                for c in range(BLOCK):
                    into[block + c] += weight * messages[m, block + c]


@part(fastmath=FAST)
def all_pairs_backward(degree: int, variable: Gathered, rows: Floats, given: Results, gradients: Gathered) -> None:
    """Gradients of `all_pairs`, added to those of messages and written to the others; `rows` [5, d] is scratch."""
    queries, keys, messages = variable
    grad_damping, grad_out = given
    grad_queries, grad_keys, grad_messages = gradients
    wide = messages.shape[1]
    heads, kind = len(queries), queries.dtype.type
    share, others, zero, one = kind(1.0 / heads), kind(degree - 1), kind(0.0), kind(1.0)
    weights, scores, powers, dots, passed = rows[0], rows[1], rows[2], rows[3], rows[4]
    grad_keys[:, :degree] = zero
    for target in range(degree):
        gradient = grad_out[target]
        for m in range(degree):
            weights[m] = zero
            dot = zero
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    dot += gradient[block + c] * messages[m, block + c]
            dots[m] = dot
        for k in range(heads):
            ours, row = queries[k, target], keys[k]
            total = score_sum = mean = zero
            for m in range(degree):
                score = sigmoid(ours + row[m])
                power = unit_exponential(score)
                scores[m], powers[m] = score, power
                total += power
                score_sum += score
                mean += power * dots[m]
            own, own_power = scores[target], powers[target]
            own_slope = own * (one - own)
            inverse = one / (total - own_power)
            mean = (mean - own_power * dots[target]) * inverse
            damped = sigmoid(own - (score_sum - own) / others)
            of_own = grad_damping[target] * share * damped * (one - damped)
            of_others = -of_own / others
            scale = share * others * inverse
            powers[target] = zero
            query_sum = zero
            for m in range(degree):
                weight = scale * powers[m]
                weights[m] += weight
                slope, change = scores[m] * (one - scores[m]), weight * (dots[m] - mean)
                passed[m] = (change + of_others) * slope
                # Changes add up to 0, so the target's own slope may be taken off: the sum does not cancel then.
                query_sum += change * (slope - own_slope) + of_others * slope
            grad_queries[k, target] = query_sum + (of_own - of_others) * own_slope
            passed[target] = of_own * own_slope
            for m in range(degree):
                grad_keys[k, m] += passed[m]
        for m in range(degree):
            weight, into = weights[m], grad_messages[m]
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    into[block + c] += weight * gradient[block + c]
