"""Markov random fields and Bayesian networks of the UAI competitions (``.uai``, ``.LG``); see docs/formats/uai.md.

A probability p is a cost of −ln p and p = 0 is forbidden, so that the least cost is the most probable explanation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.draft import Draft
from dabp.formats.text import Place, Source, open_source
from dabp.formats.tokens import Tokens
from dabp.problem import Problem

_LARGEST_COST = 700.0  # exp(±700) is a float64


def read(source: Source, *, logarithms: bool = False) -> Problem:
    """Parse a ``.uai`` file, or a ``.LG`` file, which has logarithms of probabilities."""
    tokens = Tokens(source)
    if tokens.title.upper() not in ("MARKOV", "BAYES"):
        raise source.error(f"MARKOV or BAYES was expected, {tokens.title[:40]!r} found", 1)
    draft = Draft(source)
    for i in range(_count(tokens, "the number of variables")):
        size = tokens.integer("a number of values")
        if not 1 <= size <= source.max_cells:
            raise tokens.error(
                f"variable {i} has {size} values; 1 to {source.max_cells} (max_cells) can be", tokens.position - 1
            )
        draft.add_variable(f"x{i}", size)
    scopes = [_scope(tokens, draft) for _ in range(_count(tokens, "the number of factors"))]
    for scope, start in scopes:
        cells = math.prod(draft.shape(scope, partial(tokens.line, start)))
        declared = tokens.integer("the size of a table")
        if declared != cells:
            raise tokens.error(f"a table of {cells} numbers was expected, {declared} announced", tokens.position - 1)
        first = tokens.position
        values = tokens.take(cells, "a number of a table").astype(np.float64)
        draft.add_factor(scope, draft.add_table(_costs(tokens, values, first, logarithms)))
    if tokens.position < len(tokens):
        raise tokens.error("the announced tables are complete, but the file goes on", tokens.position)
    return draft.problem(source.stem)


def _count(tokens: Tokens, what: str) -> int:
    count = tokens.integer(what)
    if count > len(tokens):
        raise tokens.error(f"{what} is {count}, more than the file has numbers", tokens.position - 1)
    return count


def _scope(tokens: Tokens, draft: Draft) -> tuple[list[int], int]:
    start = tokens.position
    arity = _count(tokens, "the number of variables of a factor")
    variables = tokens.take(arity, "a variable of a factor").tolist()
    if any(not 0 <= v < len(draft.sizes) or v != int(v) for v in variables):
        raise tokens.error(f"a factor names a variable outside 0..{len(draft.sizes) - 1}", start)
    return [int(v) for v in variables], start


def _costs(tokens: Tokens, values: NDArray[np.float64], first: int, logarithms: bool) -> NDArray[np.float64]:
    wrong = (values == np.inf) | np.isnan(values) if logarithms else (values < 0) | ~np.isfinite(values)
    if wrong.any():
        at = int(np.argmax(wrong))
        what = "a logarithm" if logarithms else "a probability"
        raise tokens.error(f"{what} cannot be {values[at]:g}", first + at)
    with np.errstate(divide="ignore"):
        return 0.0 - (values if logarithms else np.log(values))


def read_evidence(place: Place, problem: Problem) -> dict[int, int]:
    """Variable → value index of an evidence file: ``k variable value …``, maybe after a number of samples."""
    source = open_source(place, empty=True)
    if not source.data.strip():
        return {}
    tokens = Tokens(Source(source.name, b"evidence " + source.data, source.max_cells))
    numbers = tokens.take(len(tokens), "a number").astype(np.float64)
    if len(numbers) > 1 and numbers[0] == 1 and len(numbers) == 2 + 2 * numbers[1]:
        numbers = numbers[1:]
    if len(numbers) != 1 + 2 * numbers[0]:
        raise source.error("evidence is a count k and then k times a variable and its value")
    fixed: dict[int, int] = {}
    for variable, value in numbers[1:].reshape(-1, 2).tolist():
        if not 0 <= variable < problem.num_variables or variable != int(variable):
            raise source.error(f"there is no variable {variable:g}; there are 0..{problem.num_variables - 1}")
        index = int(variable)
        if not 0 <= value < problem.domain_sizes[index] or value != int(value):
            raise source.error(f"variable {index} has values 0..{problem.domain_sizes[index] - 1}, {value:g} found")
        if fixed.setdefault(index, int(value)) != value:
            raise source.error(f"variable {index} has two values")
    return fixed


def write(problem: Problem, *, logarithms: bool = False) -> tuple[Iterator[str], list[str]]:
    """Text of a ``.uai`` or ``.LG`` file, and notes on what it could not say."""
    notes = []
    if problem.maximize:
        notes.append("maximisation is written as minimisation of the negated costs")
    if problem.has_names or problem.has_labels:
        notes.append("names of variables and values are left out: .uai has none")
    least = problem.minimized()
    if not logarithms:
        finite = np.append(least.pool[np.isfinite(least.pool)], least.constant)
        if np.abs(finite).max() > _LARGEST_COST:
            raise FormatError(
                f"costs beyond ±{_LARGEST_COST:g} are no probabilities in float64; .LG, with logarithms, takes them"
            )
        if len(finite) > 1 or least.constant:
            notes.append("costs are written as probabilities exp(-cost), to about 1e-15")
    return _lines(least, logarithms), notes


def _lines(problem: Problem, logarithms: bool) -> Iterator[str]:
    constant = problem.constant != 0
    yield f"MARKOV\n{problem.num_variables}\n{' '.join(map(str, problem.domain_sizes.tolist()))}\n"
    yield f"{problem.num_factors + constant}\n"
    for f in range(problem.num_factors):
        scope = problem.scope(f).tolist()
        yield " ".join(map(str, [len(scope), *scope])) + "\n"
    if constant:
        yield "0\n"
    for f in range(problem.num_factors):
        yield _table(problem.cells(f), logarithms)
    if constant:
        yield _table(np.array([problem.constant]), logarithms)


def _table(costs: NDArray[np.float64], logarithms: bool) -> str:
    values = 0.0 - costs if logarithms else np.exp(-costs)
    return f"\n{len(values)}\n" + " ".join(map(repr, values.tolist())) + "\n"
