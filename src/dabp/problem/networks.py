"""Bayesian and Markov networks of pgmpy and pyAgrum as problems: the least cost is the most probable explanation.

A probability p is a cost of −ln p and p = 0 is forbidden. Nothing of these packages is imported: their objects
are asked for what they hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.views import Label

_Table = tuple[list[int], NDArray[np.float64], str]


def from_pgmpy(model: Any, *, name: str = "problem") -> Problem:
    """The problem of a pgmpy network: a ``DiscreteBayesianNetwork``'s distributions, or a Markov network's factors.

    Names of states are labels; a factor of a Bayesian network has the parents first and the variable last.
    """
    bayesian = hasattr(model, "get_cpds")
    parts = model.get_cpds() if bayesian else model.get_factors()
    nodes = [node for node in model.nodes() if not hasattr(node, "values")]  # factor graphs have factors as nodes
    index: dict[Hashable, int] = {node: i for i, node in enumerate(nodes)}
    states: list[Sequence[Hashable] | None] = [None] * len(nodes)
    tables: list[_Table] = []
    for part in parts:
        variables = list(part.variables)
        values = np.asarray(part.values, dtype=np.float64)
        for variable, size in zip(variables, values.shape, strict=True):
            named = getattr(part, "state_names", {}).get(variable, range(size))
            known = states[index[variable]]
            if known is None:
                states[index[variable]] = list(named)
            elif list(known) != list(named):  # pgmpy lets each factor order them as it likes
                axis = variables.index(variable)
                values = np.take(values, [list(named).index(one) for one in known], axis=axis)
        if bayesian:  # the variable first
            variables, values = [*variables[1:], variables[0]], np.moveaxis(values, 0, -1)
        tables.append(([index[one] for one in variables], values, str(variables[-1] if bayesian else "")))
    missing = [node for node, found in zip(nodes, states, strict=True) if found is None]
    if missing:
        raise ProblemError(f"variable {missing[0]!r} has no distribution")
    return _problem([str(node) for node in nodes], [list(one or ()) for one in states], tables, name)


def from_pyagrum(model: Any, *, name: str = "problem") -> Problem:
    """The problem of a pyAgrum ``BayesNet`` or ``MarkovRandomField``; names of states are labels."""
    ids = sorted(model.nodes())
    names = [model.variable(i).name() for i in ids]
    index = {one: i for i, one in enumerate(names)}
    bayesian = hasattr(model, "cpt")
    parts: Iterable[Any] = [model.cpt(i) for i in ids] if bayesian else [model.factor(one) for one in model.factors()]
    tables: list[_Table] = []
    for part in parts:
        scope = [index[one] for one in reversed(part.names)]  # the axes of its arrays run backwards
        tables.append((scope, np.asarray(part.toarray(), dtype=np.float64), names[scope[-1]] if bayesian else ""))
    return _problem(names, [list(model.variable(i).labels()) for i in ids], tables, name)


def _problem(names: list[str], states: list[list[Any]], tables: list[_Table], name: str) -> Problem:
    sizes = [len(one) for one in states]
    for scope, table, _ in tables:
        if table.shape != tuple(sizes[v] for v in scope):
            raise ProblemError(f"a table on {[names[v] for v in scope]} has shape {table.shape}")
        if not (np.isfinite(table) & (table >= 0)).all():
            raise ProblemError(f"a table on {[names[v] for v in scope]} has values that are no probabilities")
    with np.errstate(divide="ignore"):
        cells = [0.0 - np.log(table.ravel()) for _, table, _ in tables]
    return Problem(
        np.array(sizes, dtype=np.int64),
        np.array([v for scope, _, _ in tables for v in scope], dtype=np.int64),
        offsets_of([len(scope) for scope, _, _ in tables]),
        np.concatenate([np.zeros(0), *cells]),
        offsets_of([len(one) for one in cells]),
        variable_names=names,
        factor_names=[one or f"f{i}" for i, (_, _, one) in enumerate(tables)],
        labels=[_labels(one) for one in states],
        name=name,
    )


def _labels(states: list[Any]) -> tuple[Label, ...] | None:
    """Labels as a problem takes them: text and numbers as they are, anything else as text."""
    if states == list(range(len(states))):
        return None
    return tuple(one if isinstance(one, str | int | float) else str(one) for one in states)
