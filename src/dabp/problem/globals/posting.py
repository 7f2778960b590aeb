"""Global functions of a problem: added behind its own factors, and carried over to a problem on fewer values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from dabp.problem import Problem
from dabp.problem.blocks import Blocks
from dabp.problem.columns import offsets_of, ragged_positions
from dabp.problem.globals.base import Posted


def onto(problem: Problem, blocks: Blocks, posted: Sequence[Posted]) -> Problem:
    """The problem, which has no auxiliary variables, with what the blocks contain, and the statements they are."""
    if not blocks.num_factors and not blocks.auxiliary:
        return problem
    pool, offsets, table = blocks.tables()
    names, visible = problem.names, problem.num_variables
    count, tables = problem.num_factors, len(problem.pool_offsets) - 1
    variable_names, factor_names, labels = names.variable_names, names.factor_names, names.value_labels
    taken = set(variable_names or ())
    free = (name for number in itertools.count(1) if (name := f"aux{number}") not in taken)
    auxiliary = list(itertools.islice(free, len(blocks.auxiliary)))
    own = [name for block in blocks.blocks for name in block.names]
    named = factor_names is not None or any(own)
    factors = [names.factor(f) for f in range(count)] + [name or f"f{count + i}" for i, name in enumerate(own)]
    return problem.replace(
        domain_sizes=np.concatenate([problem.domain_sizes, np.array(blocks.auxiliary, dtype=np.int64)]),
        scope_variables=np.concatenate([problem.scope_variables, blocks.scopes(visible)]),
        scope_offsets=offsets_of(np.concatenate([problem.arities, blocks.arities])),
        pool=np.concatenate([problem.pool, pool]),
        pool_offsets=np.concatenate([problem.pool_offsets, len(problem.pool) + offsets[1:]]),
        factor_table=np.concatenate([problem.factor_table, tables + table]),
        definitions=count + blocks.definitions,
        variable_names=None if not variable_names and not auxiliary else [*names.variables, *auxiliary],
        factor_names=factors if named else None,
        labels=labels and [*labels, *([None] * len(auxiliary))],
        statements=[each._replace(factors=tuple(count + f for f in each.factors)) for each in posted],
    )


def without(problem: Problem, posted: Sequence[Posted]) -> Problem:
    """The problem without the factors of these statements, and without auxiliary variables that only they define."""
    kept = np.ones(problem.num_factors, dtype=np.bool_)
    for one in posted:
        kept[list(one.factors)] = False
    definitions = problem.auxiliaries.definitions
    ends = problem.scope_variables[problem.scope_offsets[definitions + 1] - 1]
    visible = problem.auxiliaries.num_visible
    needed = np.ones(problem.num_variables, dtype=np.bool_)
    needed[visible:] = np.isin(np.arange(visible, problem.num_variables), ends[kept[definitions]])
    number, factor = np.cumsum(needed) - 1, np.cumsum(kept) - 1
    entries = ragged_positions(problem.scope_offsets, np.flatnonzero(kept))
    names = problem.names
    places = np.flatnonzero(needed).tolist()
    gone = set(map(id, posted))
    others = [each for each in problem.auxiliaries.statements if id(each) not in gone]
    return problem.replace(
        domain_sizes=problem.domain_sizes[needed],
        scope_variables=number[problem.scope_variables[entries]],
        scope_offsets=offsets_of(problem.arities[kept]),
        factor_table=problem.factor_table[kept],
        definitions=factor[definitions[kept[definitions]]],
        variable_names=names.variable_names and [names.variable_names[place] for place in places],
        factor_names=names.factor_names and [names.factor_names[f] for f in np.flatnonzero(kept).tolist()],
        labels=names.value_labels and [names.value_labels[place] for place in places],
        statements=[each._replace(factors=tuple(factor[list(each.factors)].tolist())) for each in others],
    )
