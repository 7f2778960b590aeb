"""Markov random fields and Bayesian networks of the UAI competitions (``.uai``, ``.LG``); see docs/formats/uai.md.

A probability p is a cost of −ln p and p = 0 is forbidden, so that the least cost is the most probable explanation.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.bayes import TOLERANCE
from dabp.formats.scopes import Scopes, domain_sizes
from dabp.formats.text import Source
from dabp.formats.tokens import FORM, Tokens
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.facts import minimized

Indices = NDArray[np.int64]


def read(source: Source, *, logarithms: bool = False) -> Problem:
    """Parse a ``.uai`` file, or a ``.LG`` file, which has logarithms of probabilities."""
    # A scope of two parents or more, and its variable's name.
    reversed_parents = re.search(rb"\n[0-9]+(?: [0-9]+){3,}   # \S", source.content[: 2**20])
    tokens = Tokens(source, trailing_comments=True)
    if tokens.title.upper() not in ("MARKOV", "BAYES"):
        raise source.error(f"MARKOV or BAYES was expected, {tokens.title[:40]!r} found", tokens.first_line)
    sizes = domain_sizes(tokens, _count(tokens, "the number of variables"))
    scopes = _scopes(tokens, sizes)
    scopes.take_cells(scopes.cells)
    pool = _tables(tokens, scopes, logarithms)
    if tokens.position < len(tokens):
        raise tokens.error("the announced tables are complete, but the file goes on", tokens.position)
    tokens.release()
    if tokens.title.upper() == "BAYES":
        _report(source, sizes, scopes, pool)
        if reversed_parents is not None:
            source.warn(
                "it looks as written by pyAgrum, which lists parents in the reverse of the order it declares: tables "
                "with several parents are read wrongly; let it write .bif or .bifxml"
            )
    starts = offsets_of(scopes.cells)[:-1]
    constant = scopes.arity == 0
    constant[constant] = np.isfinite(pool[starts[constant]])
    total = float(pool[starts[constant]].sum())
    if constant.any():
        pool = pool[np.repeat(~constant, scopes.cells)]
    return source.problem(
        sizes,
        scopes.variables,
        offsets_of(scopes.arity[~constant]),
        pool,
        offsets_of(scopes.cells[~constant]),
        constant=total,
    )


def _count(tokens: Tokens, what: str) -> int:
    count = tokens.integer(what)
    if count > len(tokens):
        raise tokens.error(f"{what} is {count}, more than the file has numbers", tokens.position - 1)
    return count


def _scopes(tokens: Tokens, sizes: Indices) -> Scopes:
    """Walk from scope to scope, as each one's arity tells where the next one starts."""
    numbers, end = tokens.numbers, len(tokens)
    count, position = _count(tokens, "the number of factors"), tokens.position
    start, arity = array("q"), array("q")
    alike = 0  # scopes in a row that are as long as the one before them
    while len(start) < count:
        if position >= end:
            raise tokens.ended("the number of variables of a factor")
        size = numbers[position].item()
        if not 0 <= size <= end or size != int(size):
            raise tokens.error(f"the number of variables of a factor cannot be {size:g}", position)
        size = int(size)
        alike = alike + 1 if len(arity) and arity[-1] == size else 0
        many = tokens.repeats(position, 1 + size, (0,), count - len(start)) if alike > FORM else 0
        many = max(1, many)  # the last may be cut short, which is seen below
        start.extend(range(position + 1, position + 1 + many * (1 + size), 1 + size))
        arity.extend(repeat(size, many))
        position += many * (1 + size)
    if position > end:
        raise tokens.ended("a variable of a factor")
    tokens.position = position
    return Scopes(tokens, sizes, np.array(start, dtype=np.int64), np.array(arity, dtype=np.int64))


def _tables(tokens: Tokens, scopes: Scopes, logarithms: bool) -> NDArray[np.float64]:
    """The costs of all tables, table after table; a size stands before each."""
    first = tokens.position + offsets_of(scopes.cells + 1)
    there = tokens.numbers[first[:-1][first[:-1] < len(tokens)]]
    wrong = there != scopes.cells[: len(there)]
    if wrong.any():
        at = int(np.argmax(wrong))
        message = f"a table of {scopes.cells[at]} numbers was expected, {there[at]:g} announced"
        raise tokens.error(message, int(first[at]))
    numbers = tokens.take(int(first[-1]) - tokens.position, "a number of a table")
    kept = np.ones(len(numbers), dtype=bool)
    kept[first[:-1] - first[0]] = False
    values = numbers[kept].astype(np.float64, copy=False)  # a copy of its own: what follows is done in place
    bad = np.isnan(values) | (values == np.inf)
    if not logarithms:
        bad |= values < 0
    if bad.any():
        at = int(np.argmax(bad))
        what = "a logarithm" if logarithms else "a probability"
        raise tokens.error(f"{what} cannot be {values[at]:g}", int(first[0] + np.flatnonzero(kept)[at]))
    if not logarithms:
        with np.errstate(divide="ignore"):
            np.log(values, out=values)
    return np.subtract(0.0, values, out=values)


def _report(source: Source, sizes: Indices, scopes: Scopes, pool: NDArray[np.float64]) -> None:
    """Warn of the first table of a Bayesian network that is no distribution of the last variable of its scope."""
    several = np.flatnonzero(scopes.arity > 0)
    last = sizes[scopes.variables[scopes.offsets[1:][several] - 1]]
    rows = scopes.cells[several] // last
    if not len(rows):
        return
    probabilities = np.exp(-pool[np.repeat(scopes.arity > 0, scopes.cells)])
    totals = np.add.reduceat(probabilities, offsets_of(np.repeat(last, rows))[:-1])
    wrong = np.abs(totals - 1) > TOLERANCE
    if wrong.any():
        at = int(np.argmax(wrong))
        factor = several[np.searchsorted(offsets_of(rows), at, side="right") - 1]
        source.warn(
            f"table {factor} is no distribution of the last variable of its scope, as in a BAYES file: probabilities "
            f"add up to {totals[at]:g}; its writer may have ordered the variables in another way"
        )


def write(problem: Problem, *, logarithms: bool = False) -> tuple[Iterator[str], list[str]]:
    """Text of a ``.uai`` or ``.LG`` file, and notes on what it could not say."""
    notes = []
    if problem.maximize:
        notes.append("maximisation is written as minimisation of the negated costs")
    if problem.names.variable_names or problem.names.value_labels:
        notes.append("names of variables and values are left out: .uai has none")
    least = minimized(problem)
    if not logarithms:
        finite = np.append(least.pool[np.isfinite(least.pool)], least.constant)
        if np.abs(finite).max() > 700:  # exp(±700) is a float64
            raise FormatError("costs beyond ±700 are no probabilities in float64; .LG, with logarithms, takes them")
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
