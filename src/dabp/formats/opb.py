"""Pseudo-Boolean files (``.opb``, ``.wbo``) of the PB competitions and of toulbar2; see docs/formats/opb.md.

An objective ``min: +2 x1 -1 x2 ~x3;``, constraints ``+1 x1 +1 x2 >= 1;``, soft ones ``[3] +1 x1 >= 1;`` after
``soft: 8;``. A constraint is a table if it is short, and otherwise a chain of partial sums (`dabp.problem.sums`);
products of literals in it, and long ones of the objective, are auxiliary variables.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError, ProblemError
from dabp.formats.bounded import below
from dabp.formats.comments import without_comments
from dabp.formats.text import Source
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.globals.base import Posted
from dabp.problem.globals.linear import Linear
from dabp.problem.integer_costs import integer_costs
from dabp.problem.sums import LARGEST_BOUND, Chain, chain
from dabp.problem.validation import EXACT

_TOKEN = re.compile(
    rb"(?P<number>(?:[+-][ \t]*)?[0-9]+(?:\.[0-9]*)?)|(?P<sign>[+-])|(?P<head>(?:min|max|soft)[ \t]*:)"
    rb"|(?P<name>(?:~[ \t]*)?[A-Za-z_][^\s;<>=!~+\-]*)|(?P<relation>>=|<=|!=|=)|(?P<mark>[;\[\]])|(?P<other>\S)"
)
_COMMENTS = re.compile(rb"(?:[ \t\r]*(?:\*[^\n]*)?\n)*")
_ANNOUNCED = re.compile(rb"#variable=[ \t]*([0-9]{1,18})\b")

_MOST_DIGITS = 30  # of a coefficient
_SMALL_TERMS = 6  # terms of a constraint that is one table
_FACTORS = 5  # literals of a product in the objective that is one table

Literals = tuple[int, ...]
"""Numbers of variables counted from 1, negated ones below 0."""


class _Token(NamedTuple):
    kind: str
    text: bytes
    place: int


def read(source: Source) -> Problem:
    """Parse a pseudo-Boolean file."""
    if not source.data.strip():
        raise source.empty()
    return _Reader(source).problem()


class _Reader:
    """Statements one after the other, each of which ends with a semicolon."""

    def __init__(self, source: Source):
        self.source, self.rows = source, _Rows(source)
        comments = _COMMENTS.match(source.data)
        announced = _ANNOUNCED.search(comments.group() if comments else b"")
        count = int(announced[1]) if announced else 0
        source.meter.take_values(2 * count)
        self.variables = {b"x%d" % number: number for number in range(1, count + 1)}
        self.data = without_comments(source.data, mark=b"*")
        source.release()
        self.top, self.objective = math.inf, False
        self.costs: dict[Literals, int | Fraction] = {}

    def problem(self) -> Problem:
        tokens = self._tokens()
        while (token := next(tokens)).kind != "end":
            try:
                self._statement(token, tokens)
            except ProblemError as error:  # a sum that is too large
                raise self._error(str(error), token) from None
        for literals, cost in self.costs.items():
            self.rows.add_product(literals, float(cost))
        names = [name.decode("utf-8", "replace") for name in self.variables]
        return below(self.rows.problem(names), self.top)

    def _tokens(self) -> Iterator[_Token]:
        for found in _TOKEN.finditer(self.data):
            assert found.lastgroup is not None
            yield _Token(found.lastgroup, found.group(), found.start())
        while True:
            yield _Token("end", b"", len(self.data))

    def _error(self, message: str, token: _Token) -> FormatError:
        return self.source.error(message, self.data.count(b"\n", 0, token.place) + 1)

    def _odd(self, token: _Token, expected: str) -> FormatError:
        found = "the end of the file" if token.kind == "end" else repr(token.text[:40].decode("utf-8", "replace"))
        return self._error(f"{expected} was expected, {found} found", token)

    def _statement(self, token: _Token, tokens: Iterator[_Token]) -> None:
        """One statement, from its first token to its semicolon."""
        if token.kind == "head":
            if self.objective:
                raise self._error("an objective is the first statement, and there is one at most", token)
            self.objective = True
            if token.text.startswith(b"soft"):
                self._top(tokens)
                return
            self.rows.maximize = token.text.startswith(b"max")
            terms, end = self._terms(next(tokens), tokens)
            if end.text != b";":
                raise self._odd(end, "';' at the end of the objective")
            for literals, coefficient in terms:
                key = tuple(sorted(set(literals)))
                self.costs[key] = self.costs.get(key, 0) + coefficient
                if not abs(float(self.costs[key])) < EXACT:
                    raise self._error("costs add up to 2^53 or more, where sums are not exact", token)
            return
        self.objective = True
        cost = math.inf
        if token.text == b"[":
            cost = float(self._number(next(tokens)))
            if not 0 <= cost < EXACT:
                raise self._error(f"a soft constraint costs {cost:g}; from 0 to 2^53 is possible", token)
            closing, token = next(tokens), next(tokens)
            if closing.text != b"]":
                raise self._odd(closing, "']'")
        self._constraint(token, tokens, cost)

    def _top(self, tokens: Iterator[_Token]) -> None:
        token = next(tokens)
        if token.text != b";":
            self.top = float(self._number(token))
            token = next(tokens)
        if token.text != b";":
            raise self._odd(token, "';' after the bound on the total")

    def _constraint(self, token: _Token, tokens: Iterator[_Token], cost: float) -> None:
        terms, relation = self._terms(token, tokens)
        if relation.kind != "relation":
            raise self._odd(relation, "a relation")
        if relation.text == b"!=":
            raise self._error("relations are >=, <= and =; '!=' is not supported", relation)
        bound, end = self._number(next(tokens)), next(tokens)
        if end.text != b";":
            raise self._odd(end, "';' at the end of the constraint")
        weights: dict[int, int] = {}
        for literals, coefficient in terms:
            if isinstance(coefficient, Fraction):
                raise self._error("the coefficients of a constraint are integers", token)
            variable = self.rows.product(tuple(sorted(set(literals)))) if literals else 0
            if variable is None:  # a literal and its negation
                continue
            if variable <= 0:  # a constant, or 1 − x
                bound -= coefficient
                coefficient = -coefficient
            if variable:
                weights[abs(variable)] = weights.get(abs(variable), 0) + coefficient
        low = None if relation.text == b"<=" else Fraction(bound)
        high = None if relation.text == b">=" else Fraction(bound)
        self.rows.add_sum(weights, Linear(low, high, price=cost, measure="once"))

    def _terms(self, token: _Token, tokens: Iterator[_Token]) -> tuple[list[tuple[Literals, int | Fraction]], _Token]:
        """Products of literals with their coefficients, and the token after them."""
        terms: list[tuple[Literals, int | Fraction]] = []
        while token.kind in ("number", "sign", "name"):
            coefficient: int | Fraction = 1
            if token.kind == "sign":
                coefficient, token = (-1 if token.text == b"-" else 1), next(tokens)
                if token.kind != "name":
                    raise self._odd(token, "a variable")
            elif token.kind == "number":
                coefficient, token = self._number(token), next(tokens)
            literals = []
            while token.kind == "name":
                literals.append(self._literal(token.text))
                token = next(tokens)
            terms.append((tuple(literals), coefficient))
        return terms, token

    def _number(self, token: _Token) -> int | Fraction:
        if token.kind != "number":
            raise self._odd(token, "a number")
        text = b"".join(token.text.split())
        if len(text) > _MOST_DIGITS:
            raise self._error(f"a number has more than {_MOST_DIGITS} digits", token)
        return Fraction(text.decode()) if b"." in text else int(text)

    def _literal(self, text: bytes) -> int:
        name = text.removeprefix(b"~").strip()
        number = self.variables.get(name)
        if number is None:
            self.source.meter.take_values(2)
            number = self.variables[name] = len(self.variables) + 1
        return -number if text.startswith(b"~") else number


class _Rows:
    """Factors and auxiliary variables as columns; equal tables are stored once, and equal sums are cut up once.

    Variables are counted from 1; auxiliary ones from 2^40 until the number of the others is known.
    """

    FIRST_AUXILIARY = 2**40

    def __init__(self, source: Source):
        self.source = source
        self.constant, self.maximize = 0.0, False
        self.statements: list[Posted] = []
        self.sizes: list[int] = []
        self.scopes, self.offsets, self.table, self.defines = array("q"), array("q", [0]), array("q"), array("b")
        self.tables: dict[bytes, int] = {}
        self.products: dict[Literals, int] = {}
        self.chains: dict[tuple[object, ...], Chain] = {}

    def add(self, scope: Sequence[int], table: NDArray[np.float64], *, defines: bool = False) -> None:
        """A factor over these variables."""
        self.source.meter.take_factors(1)
        key = table.tobytes()
        if key not in self.tables:
            self.source.meter.take_cells(table.size)
            self.tables[key] = len(self.tables)
        self.scopes.extend(scope)
        self.offsets.append(len(self.scopes))
        self.table.append(self.tables[key])
        self.defines.append(defines)

    def define(self, parents: Sequence[int], values: NDArray[np.int64], size: int) -> int:
        """A new auxiliary variable that has ``values[parents]``."""
        self.source.meter.check_cells(values.size * size)
        self.source.meter.take_values(size)
        self.sizes.append(size)
        number = self.FIRST_AUXILIARY + len(self.sizes) - 1
        table = np.full((*values.shape, size), -np.inf if self.maximize else np.inf)
        np.put_along_axis(table, values[..., None], 0.0, axis=-1)
        self.add((*parents, number), table, defines=True)
        return number

    def product(self, literals: Literals) -> int | None:
        """A literal that is the product of these, by auxiliary variables for pairs; None if it is always 0."""
        if len(literals) > len({abs(literal) for literal in literals}):
            return None
        row = list(literals)
        while len(row) > 1:
            pairs = list(zip(row[::2], row[1::2], strict=False))
            row = [self._both(pair) for pair in pairs] + row[2 * len(pairs) :]
        return row[0]

    def _both(self, pair: tuple[int, int]) -> int:
        if pair not in self.products:
            both = np.zeros((2, 2), dtype=np.int64)
            both[tuple(int(literal > 0) for literal in pair)] = 1
            self.products[pair] = self.define([abs(literal) for literal in pair], both, 2)
        return self.products[pair]

    def add_product(self, literals: Literals, cost: float) -> None:
        """What a product of literals costs where all of them are 1."""
        if not cost or len(literals) > len({abs(literal) for literal in literals}):
            return
        if not literals:
            self.constant += cost
            return
        if len(literals) > _FACTORS:
            literals = (self.product(literals) or 0,)
        table = np.zeros((2,) * len(literals))
        table[tuple(int(literal > 0) for literal in literals)] = cost
        self.add([abs(literal) for literal in literals], table)

    def add_sum(self, weights: dict[int, int], function: Linear) -> None:
        """The cost of a sum of variables times weights."""
        terms = sorted(((w, v) for v, w in weights.items() if w), key=lambda term: (-abs(term[0]), term[1]))
        if sum(abs(w) for w, _ in terms) > LARGEST_BOUND // 2:
            raise ProblemError("the coefficients of a constraint are too large to be added up exactly")
        scope = [v for _, v in terms]
        parts = [np.array([0, w], dtype=np.int64) for w, _ in terms]
        start = len(self.table)
        if len(terms) <= _SMALL_TERMS:
            costs = function.table(parts)
            if (costs != 0).any():
                self.add(scope, self._signed(costs))
        else:
            self._add_chain(scope, parts, function)
        name = f"constraint{len(self.statements) + 1}"
        self.statements.append(Posted(function, tuple(scope), tuple(parts), tuple(range(start, len(self.table))), name))

    def _add_chain(self, scope: list[int], parts: list[NDArray[np.int64]], function: Linear) -> None:
        key = (function.judge, *(int(part[1]) for part in parts))
        made = self.chains.get(key)
        if made is None:
            what = f"a constraint over {len(parts):,} variables"
            made = self.chains[key] = chain(parts, function.judge, self.source.meter.left, what)
        steps, first = list(made.steps), made.steps[0][0]
        if first[0] == first[1]:
            state = self.define(scope[:1], first, 1)
        else:  # the first variable is the state after itself
            steps[1], state = steps[1][first], scope[0]
        for variable, step in zip(scope[1:-1], steps[1:], strict=True):
            state = self.define([state, variable], step, int(step.max()) + 1)
        if (made.costs != 0).any():
            self.add([state, scope[-1]], self._signed(made.costs))

    def _signed(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Costs of violations as they count in the problem's direction."""
        return 0.0 - costs if self.maximize else costs

    def problem(self, names: list[str]) -> Problem:
        """The problem of the whole file."""
        moved = len(names) - self.FIRST_AUXILIARY + 1
        scopes = np.array(self.scopes, dtype=np.int64) - 1
        scopes[scopes >= self.FIRST_AUXILIARY - 1] += moved
        statements = [
            one._replace(scope=tuple(v - 1 if v < self.FIRST_AUXILIARY else v - 1 + moved for v in one.scope))
            for one in self.statements
        ]
        factors = [f"f{number}" for number in range(len(self.table))]
        for one in statements:
            for factor in one.factors:
                factors[factor] = one.name
        tables = [np.frombuffer(key) for key in self.tables]
        pool = np.concatenate([np.zeros(0), *tables])
        taken = set(names)
        free = (name for number in range(1, len(names) + len(self.sizes) + 1) if (name := f"aux{number}") not in taken)
        return self.source.problem(
            np.array([2] * len(names) + self.sizes, dtype=np.int64),
            scopes,
            np.array(self.offsets, dtype=np.int64),
            pool,
            offsets_of([len(table) for table in tables]),
            np.array(self.table, dtype=np.int64),
            constant=self.constant,
            maximize=self.maximize,
            factor_names=factors if statements else None,
            variable_names=[*names, *(next(free) for _ in self.sizes)],
            definitions=np.flatnonzero(np.array(self.defines, dtype=np.bool_)),
            statements=statements,
        )


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of an ``.opb`` file, and notes on what it could not say."""
    if (problem.domain_sizes != 2).any():
        at = int(np.argmax(problem.domain_sizes != 2))
        named = problem.names.variable(at)
        raise FormatError(f"pseudo-Boolean variables have two values; {named!r} has {problem.domain_sizes[at]}")
    costs, notes = integer_costs(problem)
    if problem.names.value_labels or (problem.names.variable_names and problem.names.variable(0) != "x1"):
        notes.append("names of variables and values are left out: variables are numbered")
    terms: dict[Literals, int] = {}
    clauses: list[str] = []
    for f in range(problem.num_factors):
        table, scope = int(problem.factor_table[f]), problem.scope(f)
        cells = costs.pool[problem.pool_offsets[table] : problem.pool_offsets[table + 1]].copy()
        clauses += [_clause(scope, cell) for cell in np.flatnonzero(cells < 0).tolist()]
        cells[cells < 0] = 0
        values = cells.reshape((2,) * len(scope))
        for axis in range(len(scope)):  # the coefficients of the polynomial with these values
            np.moveaxis(values, axis, 0)[1] -= np.moveaxis(values, axis, 0)[0]
        for place in np.flatnonzero(values).tolist():
            chosen = (place >> np.arange(len(scope) - 1, -1, -1)) & 1
            key = tuple(sorted((scope[chosen == 1] + 1).tolist()))
            terms[key] = terms.get(key, 0) + int(values.flat[place])
    constant = costs.constant + terms.pop((), 0)
    if constant:
        notes.append(f"the constant {constant} is left out: these files have none")
    return _lines(problem.num_variables, terms, clauses), notes


def _clause(scope: NDArray[np.int64], cell: int) -> str:
    """A constraint that forbids one combination."""
    ones = (cell >> np.arange(len(scope) - 1, -1, -1)) & 1
    terms = [f"{'-' if one else '+'}1 x{v + 1}" for v, one in zip(scope.tolist(), ones.tolist(), strict=True)]
    return f"{' '.join(terms) or '+0 x1'} >= {1 - int(ones.sum())} ;\n"


def _lines(count: int, terms: dict[Literals, int], clauses: list[str]) -> Iterator[str]:
    yield f"* #variable= {count} #constraint= {len(clauses)}\n"
    kept = [(key, coefficient) for key, coefficient in terms.items() if coefficient]
    if kept:
        yield "min:"
        for key, coefficient in kept:
            yield f" {coefficient:+d} " + " ".join(f"x{number}" for number in key)
        yield " ;\n"
    yield from clauses
