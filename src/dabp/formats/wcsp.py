"""Weighted CSPs of toulbar2 (``.wcsp``): integers between white space; see docs/formats/wcsp.md.

The numbers are parsed as one array, the functions' headers are walked once, and then all functions of an
arity are checked and filled together, so that a file of a million tuples takes about a second.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dabp.formats.bounded import below
from dabp.formats.functions import Scope, fields_of_words, words_of
from dabp.formats.intensional import KEYWORDS, NotSupported, Part, Recipe, Words, counted, expand
from dabp.formats.meanings import Posting
from dabp.formats.scopes import Scopes, checked_scopes, domain_sizes
from dabp.formats.statements import Written, apart, auxiliary_notes, signed
from dabp.formats.text import Source
from dabp.formats.tokens import FORM, WORD, Tokens
from dabp.problem import Problem
from dabp.problem.columns import distinct, offsets_of
from dabp.problem.integer_costs import IntegerCosts, integer_costs

_BLOCK = 200_000  # tuples filled in at a time, which bounds the index arrays


def read(source: Source) -> Problem:
    """Parse a ``.wcsp`` file."""
    source.meter.functions = True
    tokens = Tokens(source, header=4)
    num_variables = tokens.integer("the number of variables")
    tokens.integer("the largest domain size")
    num_functions = tokens.integer("the number of cost functions")
    top = float(tokens.take(1, "the upper bound (top)")[0])
    # toulbar2 keeps a domain of negative size as an interval: the same values
    functions = _Functions(source, tokens, domain_sizes(tokens, num_variables, signed=True), top)
    functions.walk(num_functions)
    functions.read_scopes()
    return below(functions.posting.onto(functions.problem()), top)


class _Parts:
    """What functions by keyword fall apart into, as columns: arity, scope and table of each, and the tables."""

    def __init__(self) -> None:
        self.arity, self.scope, self.table = array("q"), array("q"), array("q")
        self.tables: dict[Recipe, int] = {}

    def add(self, scope: list[int], parts: list[Part]) -> None:
        for axes, recipe in parts:
            self.arity.append(len(axes))
            self.scope.extend(scope[axis] for axis in axes)
            self.table.append(self.tables.setdefault(recipe, len(self.tables)))

    def after(self, pool: NDArray[np.float64], top: float) -> NDArray[np.float64]:
        """A pool with the tables behind it, made one by one where they lie."""
        if not self.tables:
            return pool
        offsets = len(pool) + offsets_of(self.sizes)
        whole = np.empty(offsets[-1])
        whole[: len(pool)] = pool
        for recipe, number in self.tables.items():
            cells = whole[offsets[number] : offsets[number + 1]]
            cells[:] = recipe.table().ravel()
            cells[cells >= top] = np.inf
        return whole

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array([recipe.size for recipe in self.tables], dtype=np.int64)


class _Functions:
    """The cost functions as columns, a row each in file order.

    `start` is the token after the arity; `table` is the function that defines the costs: itself, or an earlier
    one whose table it shares.
    """

    def __init__(self, source: Source, tokens: Tokens, sizes: NDArray[np.int64], top: float):
        self.source, self.tokens, self.sizes, self.top = source, tokens, sizes, top
        self.parts, self.posting = _Parts(), Posting(source)

    def walk(self, count: int) -> None:
        tokens, numbers, end = self.tokens, self.tokens.numbers, len(self.tokens)
        rows = array("q")  # arity, start, tuples, table of each function
        shared: list[int] = []
        position, index = tokens.position, -1
        form, alike = (0, 0), 0  # arity and tuples of the last function, and how many in a row had them
        while index + 1 < count:
            index += 1
            if position >= end:
                raise tokens.ended(f"cost function {index + 1} of {count}")
            announced = numbers[position].item()
            if not abs(announced) < 2**53 or announced != announced // 1:
                raise tokens.error(f"an arity is {announced:g}", position)
            sharing, arity = announced < 0, abs(int(announced))
            after = position + arity + 3
            if after > end:
                raise tokens.ended("the scope, default cost and number of tuples of a cost function")
            default, tuples = numbers[after - 2 : after].tolist()
            if tuples == WORD:
                position = self._keyword(default, position, after - 1)
                continue
            if not abs(tuples) < 2**53 or tuples != tuples // 1:
                raise tokens.error(f"a number of tuples is {tuples:g}", after - 1)
            table = len(rows) // 4
            if tuples < 0:
                if -tuples > len(shared):
                    raise tokens.error(f"there is no shared cost function {-tuples:g} to reuse", after - 1)
                table = shared[int(-tuples) - 1]
                if rows[4 * table] != arity:
                    raise tokens.error("it reuses the table of a cost function of another arity", after - 1)
            if sharing:
                shared.append(table)
            listed = max(int(tuples), 0)
            rows.extend((arity, position + 1, listed, table))
            alike = alike + 1 if (announced, tuples) == form and tuples >= 0 and not sharing else 0
            form, length = (announced, tuples), arity + 3 + listed * (arity + 1)
            if alike > FORM and (more := tokens.repeats(position, length, (0, arity + 2), count - index) - 1) > 0:
                starts = position + 1 + length * np.arange(1, more + 1)
                numbers_of = np.arange(table + 1, table + 1 + more)
                alone = np.stack([np.full(more, arity), starts, np.full(more, listed), numbers_of], axis=1)
                rows.frombytes(alone.astype(np.int64).tobytes())
                index, position, alike = index + more, position + length * more, 0
            position += length
            if position > end:
                raise tokens.ended(f"a tuple of cost function {index + 1}")
        if self.tokens.words:
            raise tokens.error("", min(self.tokens.words))
        if position < end:
            raise tokens.error(f"the {count} announced cost functions are complete, but the file goes on", position)
        self.arity, self.start, self.tuples, self.table = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        self.own = self.table == np.arange(len(self.table))

    def _keyword(self, default: float, position: int, place: int) -> int:
        """Take a function that a default cost of −1 announces by keyword; the position after it."""
        tokens = self.tokens
        if place not in tokens.words or default != -1:
            raise tokens.error("a number of tuples is out of range", place)
        keyword = tokens.words.pop(place)
        variables = tokens.numbers[position + 1 : place - 1]
        scope = checked_scopes(tokens, self.sizes, np.array([position + 1]), variables[None, :])[0].tolist()
        words, line = Words(self._words(place + 1)), partial(tokens.line, place)
        try:
            sizes = tuple(self.sizes[scope].tolist())
            if keyword in KEYWORDS:
                self._post_pair(keyword, words, scope, sizes, line)
            else:
                whole = Scope(scope, sizes, self.top)
                self.posting.post(keyword, fields_of_words(keyword, words, whole), whole, "", line)
        except NotSupported as reason:
            raise self.source.error(f"global constraint {keyword[:40]!r} is not supported: {reason}", line) from None
        return place + 1 + words.taken

    def _post_pair(
        self, keyword: str, words: Words, scope: list[int], sizes: tuple[int, ...], line: Callable[[], int]
    ) -> None:
        """Take a function of two variables, whose table is made at the end."""
        parts = expand(keyword, words, sizes, self.source.meter.left, self.parts.tables)
        self.source.meter.take_cells(counted(parts, self.parts.tables), line)
        self.parts.add(scope, parts)
        self.source.meter.take_factors(len(parts), line)

    def _words(self, place: int) -> Iterator[str]:
        for index in range(place, len(self.tokens)):
            yield self.tokens.words.pop(index) if index in self.tokens.words else str(self.tokens.numbers[index])

    def read_scopes(self) -> None:
        """Variables and number of cells of each function, checked before anything large is allocated."""
        self.scopes = scopes = Scopes(self.tokens, self.sizes, self.start, self.arity)
        for k, rows in scopes.groups():
            shape, other = self.sizes[scopes.of(rows, k)], self.sizes[scopes.of(self.table[rows], k)]
            scopes.complain(rows, (shape != other).any(axis=1), "it reuses a table of other domain sizes")
        self.lengths = np.where(self.own, scopes.cells, 0)
        scopes.take_cells(self.lengths)

    def problem(self) -> Problem:
        offsets = offsets_of(self.lengths)
        pool = np.repeat(self._costs(self.start + self.arity), self.lengths)
        for k, members in self.scopes.groups():
            rows = members[(self.own & (self.tuples > 0))[members]]
            block = np.cumsum(self.tuples[rows]) // _BLOCK
            for b in distinct(block).tolist():
                self._fill(pool, offsets, rows[block == b], k)
        self.tokens.release()
        constant = self.arity == 0
        values = pool[offsets[self.table[constant]]]
        constant[constant] = np.isfinite(values)
        kept = self.own & ~constant
        if not kept[self.own].all():
            pool = pool[np.repeat(kept, self.lengths)]
        parts = self.parts
        pool = parts.after(pool, self.top)
        table_sizes = np.concatenate([self.lengths[kept], parts.sizes]).astype(np.int64)
        arities = np.concatenate([self.arity[~constant], parts.arity]).astype(np.int64)
        numbers = (np.cumsum(kept) - 1)[self.table[~constant]]
        return self.source.problem(
            self.sizes,
            np.concatenate([self.scopes.variables, np.array(parts.scope, dtype=np.int64)]),
            offsets_of(arities),
            pool,
            offsets_of(table_sizes),
            np.concatenate([numbers, int(kept.sum()) + np.array(parts.table, dtype=np.int64)]),
            constant=float(values[np.isfinite(values)].sum()),
            name=self.tokens.title,
        )

    def _fill(self, pool: NDArray[np.float64], offsets: NDArray[np.int64], rows: NDArray[np.int64], k: int) -> None:
        numbers, variables = self.tokens.numbers, self.scopes.of(rows, k)
        shape = self.sizes[variables]
        strides = np.ones_like(shape)
        for axis in range(k - 2, -1, -1):
            strides[:, axis] = strides[:, axis + 1] * shape[:, axis + 1]
        count = self.tuples[rows]
        owner = np.repeat(np.arange(len(rows)), count)
        within = np.arange(len(owner)) - offsets_of(count)[owner]
        place = (self.start[rows] + k + 2)[owner] + within * (k + 1)
        cell = offsets[rows][owner]
        for axis in range(k):
            value = numbers[place + axis]
            wrong = (value < 0) | (value >= shape[owner, axis]) | (value != np.rint(value))
            if wrong.any():
                at = int(np.argmax(wrong))
                variable = int(variables[owner[at], axis])
                raise self.tokens.error(
                    f"variable {variable} has values 0..{self.sizes[variable] - 1}, {value[at]:g} found",
                    int(place[at]) + axis,
                )
            cell += value.astype(np.int64) * strides[owner, axis]
        pool[cell] = self._costs(place + k)

    def _costs(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """The costs at some tokens, infinite from the top on."""
        numbers = self.tokens.numbers[places]
        costs = self.tokens.exact(np.where(numbers < self.top, numbers, 0), lambda at: int(places[at]))
        costs[numbers >= self.top] = np.inf
        return costs


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of a ``.wcsp`` file, and notes on what it could not say."""
    whole, notes = integer_costs(problem)
    exact = whole.scale == 1 and not problem.maximize
    rest, written = apart(problem, lambda cost: cost in (0, np.inf) or (exact and cost > 0 and cost == cost // 1))
    costs = replace(integer_costs(rest)[0], top=max(whole.top, 1)) if exact else whole
    if not exact and written:  # what is left has the scale of all
        costs = integer_costs(rest)[0]
        if costs.scale != whole.scale:
            rest, written, costs = problem, [], whole
    if problem.names.variable_names or problem.names.value_labels:
        notes.append("names of variables and values are left out: .wcsp has none")
    notes += auxiliary_notes(rest)
    return _lines(rest, costs, [signed(one, lambda cost: min(cost, float(costs.top))) for one in written]), notes


def _lines(problem: Problem, costs: IntegerCosts, written: list[Written]) -> Iterator[str]:
    name = "_".join(problem.name.split()).lstrip("#") or "problem"  # else it would be a comment
    functions = problem.num_factors + (costs.constant != 0) + len(written)
    yield f"{name} {problem.num_variables} {problem.domain_sizes.max(initial=0)} {functions} {costs.top}\n"
    yield " ".join(map(str, problem.domain_sizes.tolist())) + "\n"
    users = np.bincount(problem.factor_table, minlength=len(problem.pool_offsets) - 1)
    shared: dict[tuple[int, ...], int] = {}  # table and shape → number
    for f in range(problem.num_factors):
        scope, table = problem.scope(f).tolist(), int(problem.factor_table[f])
        shape = tuple(problem.domain_sizes[scope].tolist())
        variables = "".join(f" {v}" for v in scope)
        number = shared.get((table, *shape))
        if number is not None:
            yield f"{len(scope)}{variables} 0 -{number}\n"
            continue
        cells = costs.pool[problem.pool_offsets[table] : problem.pool_offsets[table + 1]]
        cells = np.where(cells < 0, costs.top, cells)
        default, listed = _sparse(cells)
        sign = ""
        if users[table] > 1 and scope:
            shared[(table, *shape)] = len(shared) + 1
            sign = "-"
        if not scope:
            default, listed = int(cells[0]), listed[:0]
        yield f"{sign}{len(scope)}{variables} {default} {len(listed)}\n"
        if len(listed):
            rows = np.column_stack([*np.unravel_index(listed, shape), cells[listed]])
            yield "\n".join(" ".join(map(str, row)) for row in rows.tolist()) + "\n"
    if costs.constant:
        yield f"0 {costs.constant} 0\n"
    for one in written:
        scope = " ".join(map(str, one.scope))
        yield f"{len(one.scope)} {scope} -1 {one.keyword} {words_of(one.keyword, one.fields)}\n"


def _sparse(cells: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    values, counts = np.unique(cells, return_counts=True)
    default = int(values[np.argmax(counts)])
    return default, np.flatnonzero(cells != default)
