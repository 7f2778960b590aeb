"""QUBO, Ising and max-cut files: a coefficient for each pair of two-valued variables; see docs/formats/quadratic.md.

- ``qubo`` (qbsolv): ``p qubo 0 N diagonals couplers``, then ``i i w`` and ``i j w`` counted from 0; comments start
  with ``c``.
- ``coo`` (dimod): lines ``i j w`` counted from 0, ``# vartype=SPIN`` for spins.
- ``mc`` (Gset, rudy, Biq Mac, MQLib): ``N edges``, then ``i j w`` counted from 1; the weight of the cut is maximised.
- ``bq`` (Biq Mac): ``N entries``, then ``i j q`` counted from 1, of a symmetric matrix: x'Qx is minimised, and an entry
  off the diagonal counts twice.
- ``qpbo`` (toulbar2): as ``bq``, of spins if N is negative, maximised if the number of entries is; the diagonal of
  spins is linear. A file whose first line has three numbers is read as ``coo``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError, ProblemError
from dabp.formats.comments import without_comments
from dabp.formats.numerals import decimal
from dabp.formats.text import Source, printable
from dabp.formats.tokens import Tokens
from dabp.problem import Problem
from dabp.problem.interop import has_spins
from dabp.problem.quadratic_function import Quadratic, cut_problem, problem_of, quadratic_of

_Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def read(source: Source, *, dialect: str) -> Problem:
    """Parse a file of one of the dialects."""
    try:
        readers = {"qubo": _read_qubo, "coo": _read_coo, "mc": _read_cut, "bq": _read_symmetric, "qpbo": _read_signed}
        return readers[dialect](source)
    except ProblemError as error:
        raise source.error(str(error)) from None


def _read_qubo(source: Source) -> Problem:
    source.data = without_comments(source.data, mark=b"c")
    tokens = Tokens(source)
    kind = tokens.words.pop(0, "")
    if tokens.title != "p" or kind != "qubo":
        raise source.error("a line 'p qubo 0 variables diagonals couplers' was expected", tokens.first_line)
    tokens.words.pop(1, "")  # the topology: 0, or "unconstrained"
    tokens.position = 2
    size, diagonals, couplers = (
        tokens.integer(f"the number of {what}") for what in ("variables", "diagonals", "couplers")
    )
    rows, columns, weights = _triples(tokens, diagonals + couplers, size, first=0)
    wrong = (rows == columns) != (np.arange(len(rows)) < diagonals)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise tokens.error(f"{diagonals} diagonals were announced, then {couplers} couplers", 5 + 3 * at)
    tokens.release()
    return problem_of(Quadratic(_unknown(source, size), rows, columns, weights), name=printable(source.stem))


def _read_coo(source: Source) -> Problem:
    found = re.search(rb"^#[ \t]*vartype[ \t]*=[ \t]*(SPIN|BINARY)[ \t]*\r?$", source.data, re.MULTILINE)
    tokens = _numbers(source)
    if len(tokens) % 3:
        raise tokens.error("lines of two variables and a coefficient were expected", len(tokens) - 1)
    count = len(tokens) // 3
    size = 0
    if count:
        size = int(min(float(tokens.numbers.reshape(-1, 3)[:, :2].max()), 2.0**62)) + 1
    rows, columns, weights = _triples(tokens, count, size, first=0)
    tokens.release()
    spin = found is not None and found[1] == b"SPIN"
    linear = _unknown(source, size)
    if spin:  # the diagonal is the field here, not a square
        diagonal = rows == columns
        linear = np.bincount(rows[diagonal], weights[diagonal], minlength=size).astype(np.float64)
        rows, columns, weights = rows[~diagonal], columns[~diagonal], weights[~diagonal]
    return problem_of(Quadratic(linear, rows, columns, weights, spin=spin), name=printable(source.stem))


def _read_sized(source: Source, what: str) -> tuple[int, _Columns]:
    """``N count`` and then `count` triples counted from 1; a graph may leave out weights of 1."""
    tokens = _numbers(source)
    size, count = tokens.integer("the number of variables"), tokens.integer(f"the number of {what}")
    if what == "edges" and len(tokens) == 2 + 2 * count:
        pairs = _triples(tokens, count, size, first=1, weighted=False)
    else:
        pairs = _triples(tokens, count, size, first=1)
    tokens.release()
    return size, pairs


def _read_cut(source: Source) -> Problem:
    size, (rows, columns, weights) = _read_sized(source, "edges")
    _unknown(source, size)
    return cut_problem(size, rows, columns, weights, name=printable(source.stem))


def _read_symmetric(source: Source) -> Problem:
    size, (rows, columns, weights) = _read_sized(source, "entries")
    weights = np.where(rows == columns, weights, 2 * weights)
    return problem_of(Quadratic(_unknown(source, size), rows, columns, weights), name=printable(source.stem))


def _read_signed(source: Source) -> Problem:
    first = re.search(rb"^[ \t]*[^#\s][^\n]*", source.data, re.MULTILINE)
    if first is not None and len(first.group().split()) == 3:
        return _read_coo(source)
    tokens = _numbers(source)
    signed = tokens.take(2, "the numbers of variables and entries")
    spin, maximize = bool(signed[0] < 0), bool(signed[1] < 0)
    tokens.numbers[:2] = np.abs(signed)
    tokens.position = 0
    size, count = tokens.integer("the number of variables"), tokens.integer("the number of entries")
    rows, columns, weights = _triples(tokens, count, size, first=1)
    tokens.release()
    linear, diagonal = _unknown(source, size), rows == columns
    linear += np.bincount(rows[diagonal], weights[diagonal], minlength=size)
    rows, columns, weights = rows[~diagonal], columns[~diagonal], 2 * weights[~diagonal]
    quadratic = Quadratic(linear, rows, columns, weights, spin=spin)
    return problem_of(quadratic, maximize=maximize, name=printable(source.stem))


def _numbers(source: Source) -> Tokens:
    """The tokens of a file that has no title; in its place stands a word of ours."""
    titled = Source(source.name, b"terms " + without_comments(source.data), source.max_cells)
    if titled.data[6:].isspace() or len(titled.data) == 6:
        raise source.empty()
    source.release()
    titled.meter = source.meter
    return Tokens(titled, trailing_comments=True)


def _unknown(source: Source, size: int) -> NDArray[np.float64]:
    """A coefficient of 0 for each variable, within the limit on values."""
    source.meter.take_values(2 * size)
    return np.zeros(size)


def _triples(tokens: Tokens, count: int, size: int, *, first: int, weighted: bool = True) -> _Columns:
    """The next `count` lines of two variables and a coefficient, which end the file."""
    width, start = 2 + weighted, tokens.position
    if size > tokens.source.meter.max_values // 2:
        tokens.source.meter.take_values(2 * size, partial(tokens.line, max(start - 1, 0)))
    table = tokens.take(count * width, "two variables and a coefficient").reshape(count, width)
    if tokens.position < len(tokens):
        raise tokens.error(f"the {count} announced lines are complete, but the file goes on", tokens.position)
    if tokens.words:
        raise tokens.error("", min(tokens.words))
    variables = table[:, :2]
    wrong = (variables < first) | (variables >= size + first)
    if table.dtype == np.float64:
        wrong |= variables != np.rint(variables)
    if wrong.any():
        at = int(np.argmax(wrong.any(axis=1)))
        shown = variables[at][wrong[at]][0]
        reason = f"there is no variable {shown:g}; there are {first}..{size + first - 1}"
        raise tokens.error(reason, start + at * width)
    weights = tokens.exact(table[:, 2], lambda at: start + at * width + 2) if weighted else np.ones(count)
    if not np.isfinite(weights).all():
        at = int(np.argmax(~np.isfinite(weights)))
        raise tokens.error(f"a coefficient is {weights[at]:g}", start + at * width + 2)
    tokens.source.meter.take_factors(count)
    rows, columns = (variables[:, axis].astype(np.int64) for axis in range(2))
    if first:
        rows -= first
        columns -= first
    return rows, columns, weights


def write(problem: Problem, *, dialect: str) -> tuple[Iterator[str], list[str]]:
    """Text of a file of a dialect, and notes on what it could not say."""
    notes = []
    spin = dialect == "mc" or (dialect in ("coo", "qpbo") and has_spins(problem))
    if problem.names.variable_names or (problem.names.value_labels and not (spin and has_spins(problem))):
        notes.append("names of variables and values are left out: these files number them")
    if dialect != "qpbo" and problem.maximize != (dialect == "mc"):
        notes.append(f"{'max' if problem.maximize else 'min'}imisation is written with all coefficients negated")
    try:
        quadratic = quadratic_of(problem, spin=spin)
    except ProblemError as error:
        raise FormatError(str(error)) from None
    if problem.maximize and dialect != "qpbo":
        quadratic = quadratic._replace(linear=-quadratic.linear, weights=-quadratic.weights, offset=-quadratic.offset)
    offset = quadratic.offset
    if dialect == "mc":
        if quadratic.linear.any():
            at = int(np.flatnonzero(quadratic.linear)[0])
            raise FormatError(f"this is no cut: variable {problem.names.variable(at)!r} prefers one of its values")
        quadratic = quadratic._replace(weights=2 * quadratic.weights)  # w(1 − s s')/2 is the cut, to be maximised
        offset += float(quadratic.weights.sum()) / 2
    if offset:
        negated = problem.maximize and dialect != "qpbo"
        notes.append(f"the constant {-offset if negated else offset:g} is left out: these files have none")
    return _lines(quadratic, dialect, problem.maximize), notes


def _lines(quadratic: Quadratic, dialect: str, maximize: bool) -> Iterator[str]:
    linear, rows, columns, weights = quadratic.linear, quadratic.rows, quadratic.columns, quadratic.weights
    fields = np.flatnonzero(linear)
    first = int(dialect in ("mc", "bq", "qpbo"))
    if dialect == "qubo":
        yield f"p qubo 0 {len(linear)} {len(fields)} {len(rows)}\n"
    elif dialect == "coo":
        yield f"# vartype={'SPIN' if quadratic.spin else 'BINARY'}\n"
        fields = np.arange(len(linear))  # zeros, too, as only lines tell how many variables there are
    else:
        signs = ["-" if dialect == "qpbo" and sign else "" for sign in (quadratic.spin, maximize)]
        yield f"{signs[0]}{len(linear)} {signs[1]}{len(fields) + len(rows)}\n"
    if dialect in ("bq", "qpbo"):  # which count an entry off the diagonal twice
        weights = weights / 2
    for left, right, values in ((fields, fields, linear[fields]), (rows, columns, weights)):
        for start in range(0, len(left), 2**14):
            part = slice(start, start + 2**14)
            triples = zip(
                (left[part] + first).tolist(), (right[part] + first).tolist(), values[part].tolist(), strict=True
            )
            yield "".join(f"{i} {j} {decimal(w)}\n" for i, j, w in triples)
