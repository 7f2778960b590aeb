"""Compiled elimination of variables with few neighbours, any arity, with a policy to read them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel

Array = Any

MAX_FACTORS = 16
"""A variable with more factors than this waits until parallel factors have been merged."""
MAX_SCOPE = 12
"""A variable with more neighbours than this is never eliminated."""
CELL_WORK = 16
"""Operations that a new cell counts for besides its minimum, which bounds the memory that new tables take."""


@kernel
def _grown(array: Array, size: int) -> Array:
    """The array itself if it holds `size` items, else a copy twice as long."""
    if size <= len(array):
        return array
    longer = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def _minimise(
    size: int,
    unary: Array,
    pool: Array,
    tables: Array,
    steps: Array,
    strides: Array,
    dims: Array,
    count: int,
    width: int,
    out: Array,
    out_start: int,
    policy: Array,
    policy_start: int,
    digit: Array,
) -> None:
    """out(s) += min_x u(x) + Σ_j f_j(x, s) and its argument, over all values s of the neighbours.

    Factor j starts at ``tables[j]`` (a copy that is moved along); a step of x moves ``steps[j]`` cells in it, a
    step of neighbour k ``strides[j, k]``.
    """
    digit[:width] = 0
    cell = 0
    while True:
        least, best = np.inf, 0
        for value in range(size):
            cost = unary[value]
            for j in range(count):
                cost += pool[tables[j] + value * steps[j]]
            if cost < least:
                least, best = cost, value
        out[out_start + cell] += least
        policy[policy_start + cell] = best
        cell += 1
        axis = width - 1
        while axis >= 0:
            digit[axis] += 1
            back = digit[axis] if digit[axis] == dims[axis] else 0
            for j in range(count):
                tables[j] += strides[j, axis] * (1 - back)
            if back == 0:
                break
            digit[axis] = 0
            axis -= 1
        if axis < 0:
            return


@kernel
def eliminate(
    sizes: Array,
    unary: Array,
    starts: Array,
    scopes: Array,
    scope_offsets: Array,
    table_start: Array,
    tables_given: Array,
    small: int,
    growth: float,
    allowance: Array,
    work: int,
) -> Any:
    """Eliminate variables as long as one is cheap: x is replaced by g(s) = min_x Σ_f f(x, s) over its neighbours s.

    Cheap means at most two neighbours and a table of at most `small` cells or `growth` times the cells it
    replaces, or more neighbours and a table no larger than one it replaces or than ``allowance[x]``; and
    in any case no more operations than are left of `work`. `unary` [sum D] is changed in place.

    Returns
    -------
    constant, num_log, log_variable, log_scope_start, log_scopes, log_policy_start, policies
        What was eliminated, in order: the variable, its neighbours and the best value for each combination of them.
    num_factors, alive, factor_scope, factor_arity, scopes, factor_table, pool
        All factors, old and new; those that are not alive are gone.
    work
        What is left of it.
    """
    num_variables, old = len(sizes), len(table_start)
    pool = tables_given.copy()
    capacity = old + num_variables
    factor_scope = np.zeros(capacity, dtype=np.int64)
    factor_arity = np.zeros(capacity, dtype=np.int64)
    factor_table = np.zeros(capacity, dtype=np.int64)
    alive = np.zeros(capacity, dtype=np.uint8)
    num_factors = old
    num_entries, num_cells = len(scopes), len(pool)
    entry_factor = np.zeros(max(1, num_entries), dtype=np.int64)
    following = np.full(max(1, num_entries), -1, dtype=np.int64)
    head = np.full(num_variables, -1, dtype=np.int64)
    degree = np.zeros(num_variables, dtype=np.int64)
    scopes = _grown(scopes, 1)
    for factor in range(old):
        factor_scope[factor] = scope_offsets[factor]
        factor_arity[factor] = scope_offsets[factor + 1] - scope_offsets[factor]
        factor_table[factor] = table_start[factor]
        alive[factor] = factor_arity[factor] >= 2
        if alive[factor]:
            for entry in range(scope_offsets[factor], scope_offsets[factor + 1]):
                entry_factor[entry] = factor
                following[entry] = head[scopes[entry]]
                head[scopes[entry]] = entry
                degree[scopes[entry]] += 1

    log_variable = np.zeros(max(1, num_variables), dtype=np.int64)
    log_scope_start = np.zeros(num_variables + 1, dtype=np.int64)
    log_policy_start = np.zeros(num_variables + 1, dtype=np.int64)
    log_scopes = np.zeros(max(16, num_variables), dtype=np.int64)
    policies = np.zeros(max(16, len(unary)), dtype=np.int32)
    num_log = 0
    constant = 0.0

    # Everybody waits once for the cheapest kind (at most one neighbour), then for any: trees go before they are joined.
    queue = np.arange(num_variables)
    queued = np.ones(num_variables, dtype=np.uint8)
    gone = np.zeros(num_variables, dtype=np.uint8)
    position, waiting, leaves_only = 0, num_variables, True
    mark = np.full(num_variables, -1, dtype=np.int64)
    neighbours = np.zeros(MAX_SCOPE + 1, dtype=np.int64)
    members = np.zeros(MAX_FACTORS + 1, dtype=np.int64)
    tables = np.zeros(MAX_FACTORS + 1, dtype=np.int64)
    steps = np.zeros(MAX_FACTORS + 1, dtype=np.int64)
    dims = np.zeros(MAX_SCOPE + 1, dtype=np.int64)
    strides = np.zeros((MAX_FACTORS + 1, MAX_SCOPE + 1), dtype=np.int64)
    single = np.zeros(1)
    digit = np.zeros(MAX_SCOPE + 1, dtype=np.int64)

    while waiting > 0 or leaves_only:
        if waiting == 0:
            for variable in range(num_variables):
                queue[variable] = variable
                queued[variable] = 1
            position, waiting, leaves_only = 0, num_variables, False
            continue
        variable = queue[position]
        position = (position + 1) % num_variables
        waiting -= 1
        queued[variable] = 0
        if gone[variable] or degree[variable] > (1 if leaves_only else MAX_FACTORS):
            continue
        # Its living factors and their other variables; dead factors are unlinked on the way.
        count, width, before, entry = 0, 0, -1, head[variable]
        removed, largest = 0.0, 0.0
        while entry >= 0 and width <= MAX_SCOPE:
            factor = entry_factor[entry]
            if not alive[factor]:
                if before < 0:
                    head[variable] = following[entry]
                else:
                    following[before] = following[entry]
                entry = following[entry]
                continue
            cells = 1.0
            for other_entry in range(factor_scope[factor], factor_scope[factor] + factor_arity[factor]):
                other = scopes[other_entry]
                cells *= sizes[other]
                if other != variable and mark[other] != variable and width <= MAX_SCOPE:
                    mark[other] = variable
                    neighbours[width] = other
                    width += 1
            removed += cells
            largest = max(largest, cells)
            members[count] = factor
            count += 1
            before, entry = entry, following[entry]
        for k in range(width):
            mark[neighbours[k]] = -1
        product = 1.0
        for k in range(width):
            product *= sizes[neighbours[k]]
        if width > 1 and leaves_only:
            continue
        if width > 2:
            if width > MAX_SCOPE or product > max(largest, allowance[variable]):
                continue
        elif product > max(float(small), growth * removed):
            continue
        needed = product * (float(sizes[variable]) * (count + 1) + CELL_WORK)
        if needed > work:
            continue
        work -= int(needed)

        cells = int(product)
        for k in range(width):
            dims[k] = sizes[neighbours[k]]
        for j in range(count):
            factor = members[j]
            tables[j] = factor_table[factor]
            steps[j] = 0
            strides[j, :width] = 0
            stride = 1
            for other_entry in range(factor_scope[factor] + factor_arity[factor] - 1, factor_scope[factor] - 1, -1):
                other = scopes[other_entry]
                if other == variable:
                    steps[j] = stride
                for k in range(width):
                    if neighbours[k] == other:
                        strides[j, k] = stride
                stride *= sizes[other]
        log_variable[num_log] = variable
        log_scopes = _grown(log_scopes, log_scope_start[num_log] + width)
        log_scopes[log_scope_start[num_log] : log_scope_start[num_log] + width] = neighbours[:width]
        log_scope_start[num_log + 1] = log_scope_start[num_log] + width
        policies = _grown(policies, log_policy_start[num_log] + cells)
        log_policy_start[num_log + 1] = log_policy_start[num_log] + cells
        own = unary[starts[variable] : starts[variable + 1]]
        where = log_policy_start[num_log]
        num_log += 1
        gone[variable] = 1
        for j in range(count):
            factor = members[j]
            alive[factor] = 0
            for other_entry in range(factor_scope[factor], factor_scope[factor] + factor_arity[factor]):
                degree[scopes[other_entry]] -= 1

        if width == 0:
            single[0] = 0.0
            _minimise(
                sizes[variable], own, pool, tables, steps, strides, dims, count, 0, single, 0, policies, where, digit
            )
            constant += single[0]
            continue
        if width == 1:
            begin = starts[neighbours[0]]
            _minimise(
                sizes[variable], own, pool, tables, steps, strides, dims, count, 1, unary, begin, policies, where, digit
            )
        else:
            pool = _grown(pool, num_cells + cells)
            pool[num_cells : num_cells + cells] = 0.0
            _minimise(
                sizes[variable],
                own,
                pool,
                tables,
                steps,
                strides,
                dims,
                count,
                width,
                pool,
                num_cells,
                policies,
                where,
                digit,
            )
            scopes = _grown(scopes, num_entries + width)
            entry_factor = _grown(entry_factor, num_entries + width)
            following = _grown(following, num_entries + width)
            factor_scope[num_factors] = num_entries
            factor_arity[num_factors] = width
            factor_table[num_factors] = num_cells
            alive[num_factors] = 1
            for k in range(width):
                scopes[num_entries] = neighbours[k]
                entry_factor[num_entries] = num_factors
                following[num_entries] = head[neighbours[k]]
                head[neighbours[k]] = num_entries
                degree[neighbours[k]] += 1
                num_entries += 1
            num_factors += 1
            num_cells += cells
        for k in range(width):
            other = neighbours[k]
            if not queued[other]:
                queued[other] = 1
                queue[(position + waiting) % num_variables] = other
                waiting += 1
    return (
        constant,
        num_log,
        log_variable,
        log_scope_start,
        log_scopes,
        log_policy_start,
        policies,
        num_factors,
        alive,
        factor_scope,
        factor_arity,
        scopes[:num_entries],
        factor_table,
        pool[:num_cells],
        work,
    )


@kernel
def read_back(
    count: int,
    variables: Array,
    scope_start: Array,
    scopes: Array,
    policy_start: Array,
    policies: Array,
    sizes: Array,
    values: Array,
) -> None:
    """Give the eliminated variables their best values, last eliminated first; `values` [N] is changed in place."""
    for step in range(count - 1, -1, -1):
        place = 0
        for entry in range(scope_start[step], scope_start[step + 1]):
            place = place * sizes[scopes[entry]] + values[scopes[entry]]
        values[variables[step]] = policies[policy_start[step] + place]
