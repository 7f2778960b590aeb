"""Hypothesis strategies for problems as files may hold them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from dabp.problem import Problem

_integers = st.integers(-50, 1000).map(float)
_naturals = st.integers(0, 1000).map(float)
_decimals = st.integers(-(10**6), 10**6).map(lambda n: n / 1000)
_reals = st.floats(-1e6, 1e6, allow_subnormal=False)
_tiny = st.floats(-1e-6, 1e-6)
_names = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='"\\/#'), min_size=1, max_size=8
)
_labels = st.one_of(_names, st.integers(-100, 100), st.floats(-10, 10).map(lambda x: round(x, 3)))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Any problem of up to five variables: arity 0 to 4, shared tables, names, labels, a constant, any direction."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=0, max_size=5))
    maximize = draw(st.booleans())
    costs = draw(st.sampled_from([_naturals, _integers, _decimals, _reals, _tiny]))
    cell = st.one_of(costs, st.just(-math.inf if maximize else math.inf)) if draw(st.booleans()) else costs
    scopes, tables, factor_table = [], [], []
    for _ in range(draw(st.integers(0, 5))):
        scope = draw(st.permutations(range(len(sizes))))[: draw(st.integers(0, 4))]
        shape = tuple(sizes[v] for v in scope)
        same = [i for i, table in enumerate(tables) if table.shape == shape]
        if same and draw(st.booleans()):
            factor_table.append(draw(st.sampled_from(same)))
        else:
            cells = draw(st.lists(cell, min_size=math.prod(shape), max_size=math.prod(shape)))
            factor_table.append(len(tables))
            tables.append(np.array(cells).reshape(shape))
        scopes.append(list(scope))
    names = draw(st.none() | st.lists(_names, min_size=len(sizes), max_size=len(sizes), unique=True))
    labels = None
    if draw(st.booleans()):
        labels = [draw(st.none() | st.lists(_labels, min_size=d, max_size=d, unique_by=str).map(tuple)) for d in sizes]
    return Problem(
        np.array(sizes, dtype=np.int64),
        np.array([v for scope in scopes for v in scope], dtype=np.int64),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(0),
        np.cumsum([0, *(table.size for table in tables)]),
        np.array(factor_table, dtype=np.int64),
        constant=draw(st.one_of(st.just(0.0), costs)),
        maximize=maximize,
        variable_names=names,
        labels=labels,
        name=draw(_names),
    )


@st.composite
def networks(draw: st.DrawFn) -> Problem:
    """Any Bayesian network of up to four variables with names of all kinds, probabilities of 0 included."""
    names = draw(st.lists(_names, min_size=1, max_size=4, unique=True))
    states = [tuple(draw(st.lists(_names, min_size=1, max_size=3, unique=True))) for _ in names]
    order = draw(st.permutations(range(len(names))))
    tables = []
    for place, child in enumerate(order):
        parents = draw(st.lists(st.sampled_from(order[:place]), unique=True)) if place else []
        shape = (*(len(states[v]) for v in parents), len(states[child]))
        weights = np.array(draw(st.lists(st.integers(0, 9), min_size=math.prod(shape), max_size=math.prod(shape))))
        weights = weights.reshape(shape) + (weights.reshape(shape).sum(axis=-1, keepdims=True) == 0)
        with np.errstate(divide="ignore"):
            tables.append(((*parents, child), -np.log(weights / weights.sum(axis=-1, keepdims=True))))
    problem = Problem.from_tables([len(row) for row in states], tables, variable_names=names)
    return problem.replace(labels=states, factor_names=[names[scope[-1]] for scope, _ in tables], name=draw(_names))


def folded(problem: Problem) -> Problem:
    """The problem as files say it: finite costs of no variables are part of the constant."""
    constant, keep = problem.constant, []
    for f in range(problem.num_factors):
        table = problem.table(f)
        if table.ndim == 0 and np.isfinite(table):
            constant += float(table)
        else:
            keep.append(f)
    scopes = [problem.scope(f) for f in keep]
    return problem.replace(
        scope_variables=np.concatenate([*scopes, np.zeros(0, dtype=np.int64)]),
        scope_offsets=np.cumsum([0, *map(len, scopes)]),
        factor_table=problem.factor_table[keep],
        factor_names=None,
        constant=constant,
    )
