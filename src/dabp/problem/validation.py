"""What makes columns a problem: checked once, when a `Problem` is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dabp.errors import ProblemError
from dabp.problem.auxiliaries import validate_definitions
from dabp.problem.columns import Indices

if TYPE_CHECKING:
    from dabp.problem import Problem
    from dabp.problem.views import Label

EXACT = 2.0**53
"""Sums of integers below this are exact in float64."""

MOST_VALUES = 2**24
"""Values of one variable: solvers need memory for each."""


def validate_structure(problem: Problem) -> None:
    """Refuse, in one sentence, domains, scopes and tables that do not fit each other."""
    _validate_columns(problem)
    _validate_tables(problem)
    validate_definitions(problem.facts.structure.columns)


def _validate_columns(problem: Problem) -> None:
    sizes, scope, offsets = problem.domain_sizes, problem.scope_variables, problem.scope_offsets
    if sizes.ndim != 1 or scope.ndim != 1 or offsets.ndim != 1 or problem.pool.ndim != 1:
        raise ProblemError("domain sizes, scopes, offsets and the pool are one-dimensional")
    if (sizes < 1).any():
        bad = int(np.argmax(sizes < 1))
        raise ProblemError(f"variable {problem.names.variable(bad)!r} has an empty domain")
    if sizes.max(initial=1) > MOST_VALUES:
        bad = int(np.argmax(sizes))
        name = problem.names.variable(bad)
        raise ProblemError(f"variable {name!r} has {sizes[bad]:,} values; {MOST_VALUES:,} at most")
    for offsets_, length, what in (
        (offsets, len(scope), "scope"),
        (problem.pool_offsets, len(problem.pool), "pool"),
    ):
        if len(offsets_) == 0 or offsets_[0] != 0 or offsets_[-1] != length or (np.diff(offsets_) < 0).any():
            raise ProblemError(f"{what} offsets must rise from 0 to {length}")
    if len(scope) and (scope.min() < 0 or scope.max() >= problem.num_variables):
        raise ProblemError(f"a scope names a variable outside 0..{problem.num_variables - 1}")


def _validate_tables(problem: Problem) -> None:
    num_tables = len(problem.pool_offsets) - 1
    if problem.factor_table.shape != (problem.num_factors,):
        raise ProblemError(f"{problem.num_factors} factors need as many table indices")
    if problem.num_factors and (problem.factor_table.min() < 0 or problem.factor_table.max() >= num_tables):
        raise ProblemError(f"a factor uses a table outside 0..{num_tables - 1}")
    lengths = np.diff(problem.pool_offsets)
    chunk = 2**16  # factors at a time, which bounds the memory of the check
    for start in range(0, problem.num_factors, chunk):
        stop = min(start + chunk, problem.num_factors)
        factors, arities = np.arange(start, stop), problem.arities[start:stop]
        least, most = int(arities.min()), int(arities.max())
        if least == most:
            scopes = problem.scope_variables[problem.scope_offsets[start] : problem.scope_offsets[stop]]
            _validate_shapes(problem, factors, scopes.reshape(stop - start, most), lengths)
            continue
        for k in np.unique(arities).tolist():
            some = factors[arities == k]
            scopes = problem.scope_variables[problem.scope_offsets[some][:, None] + np.arange(k)]
            _validate_shapes(problem, some, scopes, lengths)


def _validate_shapes(problem: Problem, factors: Indices, variables: Indices, table_lengths: Indices) -> None:
    """Some factors of one arity, with their scopes [F, k]: no variable twice, as many costs as combinations."""
    if variables.shape[1] == 2:
        twice = variables[:, 0] == variables[:, 1]
    else:
        ordered = np.sort(variables, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        bad = int(factors[np.argmax(twice)])
        raise ProblemError(f"factor {problem.names.factor(bad)!r} names a variable twice")
    sizes, lengths = problem.domain_sizes[variables], table_lengths[problem.factor_table[factors]]
    wrong = np.multiply.reduce(sizes, axis=1) != lengths
    if int(sizes.max(initial=1)) ** variables.shape[1] >= 2**62:  # then the product may have overflowed
        wrong |= np.log2(sizes.astype(np.float64)).sum(axis=1) > 62
    if wrong.any():
        at = int(np.argmax(wrong))
        shape = "×".join(map(str, sizes[at].tolist())) or "1"
        name = problem.names.factor(int(factors[at]))
        raise ProblemError(f"factor {name!r} needs a table of {shape} costs, it has {lengths[at]}")


def validate_costs(problem: Problem) -> None:
    """Refuse costs that are none, or whose sums would not be exact."""
    lowest, highest = problem.facts.extremes  # a table with a nan has it for both
    if np.isnan(lowest).any() or not np.isfinite(problem.constant):
        raise ProblemError("a cost is not a number (nan), or the constant is not finite")
    if problem.limit is not None and np.isnan(problem.limit):
        raise ProblemError("the limit is not a number (nan)")
    if ((highest if problem.maximize else lowest) == -problem.facts.forbidden).any():
        word = "+inf while maximising" if problem.maximize else "-inf while minimising"
        raise ProblemError(f"a cost is {word}; only {problem.facts.forbidden} (forbidden) is allowed")
    if problem.facts.magnitude >= EXACT:  # a cost of 2^53 may be a larger integer that was rounded
        raise ProblemError("costs are so large that their sums are not exact in float64 (2^53 and beyond)")


def validate_names(problem: Problem, labels: Sequence[tuple[Label, ...] | None] | None) -> None:
    """Refuse names that are no text, and names and labels that are missing or not told apart."""
    for given in (problem.names.variable_names, problem.names.factor_names, (problem.name,)):
        if not all(issubclass(kind, str) for kind in set(map(type, given or ()))):
            wrong = next(name for name in given or () if not isinstance(name, str))
            raise ProblemError(f"names are text, not {wrong!r}")
    if problem.names.variable_names:
        names = problem.names.variables
        if len(names) != problem.num_variables:
            raise ProblemError(f"{problem.num_variables} variables, but {len(names)} names")
        if len(set(names)) != len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise ProblemError(f"two variables are named {twice!r}")
    keys = problem.names.keys
    if keys is not None and not len(_different(keys)) == len(keys) == problem.num_variables:
        raise ProblemError(f"{problem.num_variables} variables need as many different keys")
    if labels is None:
        return
    if len(labels) != problem.num_variables:
        raise ProblemError(f"{problem.num_variables} variables, but labels for {len(labels)}")
    if not all(issubclass(kind, tuple | list | None) for kind in set(map(type, labels))):
        raise ProblemError("the labels of a variable are a tuple, or None for 0, 1, …")
    distinct = {id(row): row for row in labels if row is not None}  # many variables share one row
    repeats = {key for key, row in distinct.items() if len(_told_apart(row)) != len(row)}
    for i, row in enumerate(labels):
        if row is not None and (len(row) != problem.domain_sizes[i] or id(row) in repeats):
            raise ProblemError(
                f"variable {problem.names.variable(i)!r} needs {problem.domain_sizes[i]} different labels"
            )


def _told_apart(row: tuple[Label, ...]) -> set[Hashable]:
    """The labels of a row that differ as they are printed; numbers need no printing, and may be millions."""
    different = _different(row)
    return different if all(type(label) is int for label in row) else set(map(str, row))


def _different(values: Sequence[Hashable]) -> set[Hashable]:
    try:
        return set(values)
    except TypeError:
        raise ProblemError(f"labels and keys are text, numbers or other hashable objects, not {values!r}") from None
