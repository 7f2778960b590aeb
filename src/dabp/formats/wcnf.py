"""Weighted MaxSAT (``.wcnf``, ``.cnf``), in the form before 2022 and in that since; see docs/formats/wcnf.md.

A clause of up to five literals is a table with one cell that is not 0; equal patterns of signs and weights share it. A
longer one is cut into such of three literals by auxiliary variables, which answers leave out again: pairs of its
literals are replaced by one each, (a ∨ b ∨ c ∨ d ∨ …) by the hard (a ∨ b ∨ y), (c ∨ d ∨ z), … and, with the weight of
all, (¬y ∨ ¬z ∨ …), until three are left; so a chain of definitions is as long as the logarithm of the clause.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError, ProblemError
from dabp.formats.comments import lines_of, without_comments
from dabp.formats.text import Source, printable
from dabp.formats.tokens import Tokens
from dabp.problem import Assignment, Problem
from dabp.problem.columns import handed_over, offsets_of, ragged_positions
from dabp.problem.integer_costs import integer_costs

AUXILIARY = "aux"
"""How the names of auxiliary variables start; those of a file are x1, x2, …."""

_HARD = -1
_LONGEST = 5  # literals of a clause that is one table
_CHUNK = 2**16  # clauses that are sorted together
_MARK = re.compile(rb"^([ \t]*)h(?=[ \t])", re.MULTILINE)

Indices = NDArray[np.int64]


class _Clauses(NamedTuple):
    """Clauses as columns: clause c has ``literals[offsets[c]:offsets[c + 1]]``; a weight of inf is hard."""

    literals: NDArray[Any]  # integers, of 32 bits where the file's are
    offsets: Indices
    weights: NDArray[np.float64]


def read(source: Source) -> Problem:
    """Parse a file of either form."""
    data = without_comments(source.data, mark=b"c")
    source.release()
    if data.isspace() or not data:
        raise source.empty()
    header = re.compile(rb"\s*p[ \t]+(w?cnf)[ \t]+([0-9]+)[ \t]+([0-9]+)(?:[ \t]+([0-9]+))?[ \t]*\r?(?:\n|$)").match(
        data
    )
    kind, announced, top = b"", None, np.inf
    if header is not None:
        kind, announced = header[1], int(header[2].lstrip(b"0")[:18] or b"0")
        top = float(header[4]) if header[4] else np.inf
        data = b"\n" * data.count(b"\n", 0, header.end()) + data[header.end() :]
    data = b"".join([b"clauses ", *(_MARK.sub(rb"\g<1>-1", chunk) for chunk in lines_of(data))])
    held = Source(source.name, data, source.max_cells)
    del data
    held.meter = source.meter
    tokens = Tokens(held)
    clauses = _clauses(tokens, top, weighted=kind != b"cnf", marked=header is None)
    size = int(np.abs(clauses.literals).max(initial=0))
    if announced is not None and size > announced:
        place = int(np.argmax(np.abs(clauses.literals) > announced))
        clause = int(np.searchsorted(clauses.offsets, place, side="right")) - 1
        at = _start(tokens, clause)
        raise tokens.error(f"there is no variable {size}; there are 1..{announced}", at)
    size = size if announced is None else announced
    source.meter.take_values(2 * size)
    source.meter.take_factors(len(clauses.weights))
    tokens.release()
    return _Builder(source, size, _plain(clauses)).problem()


def _start(tokens: Tokens, clause: int) -> int:
    """The token at which a clause starts, for messages."""
    ends = np.flatnonzero(tokens.numbers == 0)
    return 0 if clause == 0 else int(ends[clause - 1]) + 1


def _clauses(tokens: Tokens, top: float, *, weighted: bool, marked: bool) -> _Clauses:
    """The clauses that zeros end; the first number of each is its weight."""
    numbers = tokens.numbers
    if tokens.words:
        raise tokens.error("", min(tokens.words))
    ends = np.flatnonzero(numbers == 0)
    if len(numbers) and (not len(ends) or ends[-1] != len(numbers) - 1):
        raise tokens.ended("the 0 that ends a clause")
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)[: len(ends)]
    if not weighted:
        return _checked(tokens, _Clauses(numbers[numbers != 0], offsets_of(ends - starts), np.ones(len(ends))))
    empty = ends == starts
    if empty.any():
        raise tokens.error("a clause has no weight, or one of 0", int(starts[np.argmax(empty)]))
    weights = numbers[starts].astype(np.float64)
    hard = (weights == _HARD) if marked else weights >= top
    wrong = (weights <= 0) & ~hard
    if wrong.any():
        at = int(np.argmax(wrong))
        raise tokens.error(f"a weight is {weights[at]:g}; it should be 1 or more", int(starts[at]))
    literal = numbers != 0
    literal[starts] = False
    kept = _Clauses(numbers[literal], offsets_of(ends - starts - 1), np.where(hard, np.inf, weights))
    return _checked(tokens, kept)


def _checked(tokens: Tokens, clauses: _Clauses) -> _Clauses:
    wrong = np.zeros(len(clauses.literals), dtype=np.bool_)
    if clauses.literals.dtype == np.float64:
        wrong |= clauses.literals != np.rint(clauses.literals)
    wrong |= np.abs(clauses.literals) > tokens.source.meter.max_values // 2
    if wrong.any():
        at = int(np.argmax(wrong))
        clause = int(np.searchsorted(clauses.offsets, at, side="right")) - 1
        most = tokens.source.meter.max_values // 2
        shown = clauses.literals[at]
        raise tokens.error(f"literal {shown:g} is no integer of up to {most} (max_cells)", _start(tokens, clause))
    if clauses.literals.dtype == np.float64:
        return clauses._replace(literals=clauses.literals.astype(np.int64))
    return clauses


def _plain(clauses: _Clauses) -> _Clauses:
    """The clauses with each variable once; those that have a literal and its negation are always satisfied, and go.

    Some thousand at a time, as sorting takes six times the memory of what is sorted.
    """
    parts = []
    for start in range(0, len(clauses.weights), _CHUNK):
        stop = min(start + _CHUNK, len(clauses.weights))
        first, last = clauses.offsets[[start, stop]].tolist()
        offsets = clauses.offsets[start : stop + 1] - first
        parts.append(_plain_part(_Clauses(clauses.literals[first:last], offsets, clauses.weights[start:stop])))
    return _joined(parts) if parts else clauses


def _joined(parts: list[_Clauses]) -> _Clauses:
    return _Clauses(
        np.concatenate([part.literals for part in parts]),
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        np.concatenate([part.weights for part in parts]),
    )


def _plain_part(clauses: _Clauses) -> _Clauses:
    count = len(clauses.weights)
    owner = np.repeat(np.arange(count), np.diff(clauses.offsets))
    order = np.lexsort((clauses.literals, np.abs(clauses.literals), owner))
    literals, owner = clauses.literals[order], owner[order]
    same = owner[1:] == owner[:-1]
    opposite = same & (literals[1:] == -literals[:-1])
    kept = np.ones(count, dtype=np.bool_)
    kept[owner[1:][opposite]] = False
    once = np.ones(len(literals), dtype=np.bool_)
    once[1:] = ~(same & (literals[1:] == literals[:-1]))
    once &= kept[owner]
    lengths = np.bincount(owner[once], minlength=count)[kept]
    return _Clauses(literals[once], offsets_of(lengths), clauses.weights[kept])


class _Builder:
    """Collects scopes and tables by clause length."""

    def __init__(self, source: Source, size: int, clauses: _Clauses):
        self.source, self.size, self.clauses = source, size, clauses
        self.auxiliary = 0
        self.defines: list[bool] = []
        """Of each piece of a long clause, whether its last variable, an auxiliary one, follows from it."""

    def problem(self) -> Problem:
        """The problem whose cost is the weight of all clauses that are not satisfied."""
        lengths = np.diff(self.clauses.offsets)
        if lengths.max(initial=0) <= _LONGEST:
            return self._tabulated()
        short = _selected(self.clauses, np.flatnonzero(lengths <= _LONGEST))
        long = self._cut(np.flatnonzero(lengths > _LONGEST))
        self.clauses = _joined([short, long])
        return self._tabulated()

    def _cut(self, rows: Indices) -> _Clauses:
        """Long clauses as some of three literals: pairs of literals are replaced until three are left."""
        literals, lengths, weights = array("q"), array("q"), array("d")
        for c in rows.tolist():
            first, last = self.clauses.offsets[c : c + 2].tolist()
            self.source.meter.take_values(2 * (last - first - 3))
            self.source.meter.take_factors(last - first - 3)
            row = self.clauses.literals[first:last].tolist()
            while len(row) > 3:
                bridges = range(self.size + self.auxiliary + 1, self.size + self.auxiliary + 1 + len(row) // 2)
                for place, bridge in enumerate(bridges):
                    literals.extend((row[2 * place], row[2 * place + 1], bridge))
                self.auxiliary += len(bridges)
                lengths.extend([3] * len(bridges))
                weights.extend([np.inf] * len(bridges))
                self.defines.extend([True] * len(bridges))
                row = [-bridge for bridge in bridges] + row[2 * len(bridges) :]
            literals.extend(row)
            lengths.append(len(row))
            weights.append(float(self.clauses.weights[c]))
            self.defines.append(False)
        return _Clauses(np.array(literals, dtype=np.int64), offsets_of(lengths), np.array(weights, dtype=np.float64))

    def _tabulated(self) -> Problem:
        clauses = self.clauses
        lengths = np.diff(clauses.offsets)
        constant = (lengths == 0) & np.isfinite(clauses.weights)
        total = float(clauses.weights[constant].sum())
        defines = np.zeros(len(lengths), dtype=np.bool_)
        defines[len(lengths) - len(self.defines) :] = self.defines
        if constant.any():
            self.clauses = clauses = _selected(clauses, np.flatnonzero(~constant))
            lengths = np.diff(clauses.offsets)
        cells = _costly_cells(clauses, lengths)
        weights, weight = np.unique(clauses.weights, return_inverse=True)
        keys, table = np.unique((weight * (_LONGEST + 1) + lengths) * 2**_LONGEST + cells, return_inverse=True)
        pattern, kind = keys % 2**_LONGEST, keys // 2**_LONGEST
        sizes = 2 ** (kind % (_LONGEST + 1))
        self.source.meter.take_cells(int(sizes.sum()))
        starts = offsets_of(sizes)
        pool = np.zeros(int(starts[-1]))
        pool[starts[:-1] + pattern] = weights[kind // (_LONGEST + 1)]
        self.clauses = clauses._replace(weights=clauses.weights[:0])
        del weight, keys, cells, lengths
        names = [f"x{i + 1}" for i in range(self.size)] + [f"{AUXILIARY}{i + 1}" for i in range(self.auxiliary)]
        try:
            return Problem(
                np.full(self.size + self.auxiliary, 2, dtype=np.int64),
                handed_over(np.abs(clauses.literals).astype(np.int64) - 1),
                handed_over(clauses.offsets),
                pool,
                starts,
                handed_over(table),
                constant=total,
                variable_names=names,
                name=printable(self.source.stem),
                definitions=np.flatnonzero(defines[~constant]),
            )
        except ProblemError as error:
            raise self.source.error(str(error)) from None


def _costly_cells(clauses: _Clauses, lengths: Indices) -> Indices:
    """The only cell of each clause that costs: every literal false, which is 1 for a negated variable."""
    cells = np.zeros(len(lengths), dtype=np.int64)
    for place in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > place)
        negated = clauses.literals[clauses.offsets[rows] + place] < 0
        cells[rows] += negated << (lengths[rows] - 1 - place)
    return cells


def _selected(clauses: _Clauses, rows: Indices) -> _Clauses:
    lengths = np.diff(clauses.offsets)[rows]
    return _Clauses(
        clauses.literals[ragged_positions(clauses.offsets, rows)], offsets_of(lengths), clauses.weights[rows]
    )


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of a ``.wcnf`` file in the form since 2022, and notes on what it could not say."""
    if (problem.domain_sizes != 2).any():
        at = int(np.argmax(problem.domain_sizes != 2))
        named, count = problem.names.variable(at), problem.domain_sizes[at]
        raise FormatError(f"MaxSAT has variables of two values; {named!r} has {count}")
    costs, notes = integer_costs(problem)
    if problem.names.value_labels or (problem.names.variable_names and problem.names.variable(0) != "x1"):
        notes.append("names of variables and values are left out: MaxSAT numbers variables")
    cells = np.where(costs.pool < 0, costs.top, costs.pool)
    least = problem.facts.per_table(np.minimum, cells)
    least[least >= costs.top] = 0  # all of it is forbidden
    constant = costs.constant + int(least[problem.factor_table].sum())
    if constant:
        notes.append(f"the constant {constant} is left out: MaxSAT has none")
    hard = costs.pool < 0
    return _lines(problem, cells - np.repeat(least, np.diff(problem.pool_offsets)), hard), notes


def _lines(problem: Problem, cells: NDArray[np.int64], hard: NDArray[np.bool_]) -> Iterator[str]:
    yield f"c {problem.num_variables} variables\n"
    highest = 0
    for f in range(problem.num_factors):
        table, scope = int(problem.factor_table[f]), problem.scope(f) + 1
        part = slice(int(problem.pool_offsets[table]), int(problem.pool_offsets[table + 1]))
        whole, forbidden = cells[part], hard[part]
        lines = []
        for cell in np.flatnonzero((whole > 0) | forbidden).tolist():
            values = (cell >> np.arange(len(scope) - 1, -1, -1)) & 1
            literals = " ".join(map(str, np.where(values == 1, -scope, scope).tolist()))
            head = "h" if forbidden[cell] else str(int(whole[cell]))
            lines.append(f"{head} {literals} 0\n" if literals else f"{head} 0\n")
        yield "".join(lines)
        if lines:
            highest = max(highest, int(scope.max(initial=0)))
    if highest < problem.num_variables:
        yield f"h {problem.num_variables} -{problem.num_variables} 0\n"  # always true: so the last one is counted


def as_maxsat(assignment: Assignment | None, problem: Problem, cost: float | None, status: str) -> str:
    """An answer in the lines of the MaxSAT evaluations: cost, status, and a bit for each variable of the file."""
    if status == "INFEASIBLE":
        return "s UNSATISFIABLE\n"
    if assignment is None or cost is None or not np.isfinite(cost):
        return "s UNKNOWN\n"
    number = str(int(cost)) if cost == int(cost) else repr(cost)
    bits = "".join(map(str, problem.auxiliaries.visible(problem.names.checked(assignment)).tolist()))
    verdict = "OPTIMUM FOUND" if status == "OPTIMAL" else "SATISFIABLE"
    return f"o {number}\ns {verdict}\nv {bits}\n"
