"""Cost function networks of toulbar2 (``.cfn``), in relaxed JSON; see docs/formats/cfn.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dabp.formats.bounded import below
from dabp.formats.cfn_lexer import DIGITS, SEPARATORS, Lexer
from dabp.formats.domains import distinct_names
from dabp.formats.draft import Draft
from dabp.formats.functions import Fields, Scope, Tree, between, fields_of_tree, params_of
from dabp.formats.intensional import KEYWORDS, PART, NotSupported, Recipe, Words, expand
from dabp.formats.meanings import Posting
from dabp.formats.numerals import parse_list
from dabp.formats.statements import Written, apart, auxiliary_notes, costs_of, signed
from dabp.formats.text import Source
from dabp.problem import Label, Problem

LONG_BYTES = 256
"""Characters of a table from which on it is parsed once if it repeats."""

KNOWN_BYTES = 2**24
"""Characters of repeated tables that are kept."""


def read(source: Source) -> Problem:
    """Parse a ``.cfn`` file."""
    source.meter.functions = True
    return _Reader(source).problem()


class _Reader:
    def __init__(self, source: Source, lexer: Lexer | None = None):
        self.source = source
        self.lexer = lexer or Lexer(source)
        self.draft = Draft(source)
        self.values: list[dict[str, int]] = []
        self.defining: dict[str, tuple[int, int]] = {}  # name → factor, -1 without variables, and table to be shared
        self.waiting: list[tuple[int, str | None, str, int]] = []  # factor or -1, its name, whose table it has, line
        self.tables: dict[tuple[Any, ...], int] = {}  # long text of costs and domain sizes → table, from the second on
        self.seen: set[int] = set()  # hashes of these
        self.known_bytes = 0
        self.recipes: dict[Recipe, int] = {}  # of functions by keyword, and the tables made of them
        self.posting = Posting(source)
        self.tagged = False
        self.bound = np.inf

    def problem(self) -> Problem:
        """The problem of the whole file."""
        lexer = self.lexer
        name = self._content()
        while (rest := lexer.peek()) is not None:  # toulbar2 does without the last closing brace
            lexer.next()
            if rest not in ("}", "]"):
                raise self.source.error(f"section {rest[:40]!r} after the functions is not supported", lexer.line)
        self._resolve()
        return below(self.posting.onto(self.draft.problem(name)), self.bound)

    def _content(self) -> str:
        """Take the object of a problem but its last bracket; the problem's name."""
        lexer = self.lexer
        lexer.open()
        if lexer.peek() == "problem":
            self.tagged = True
            lexer.next()
        name = self._header()
        self._tag("variables")
        lexer.open()
        while not lexer.closing():
            self._variable()
        self._tag("functions")
        lexer.open()
        while True:
            if self._dense_function():
                continue
            if lexer.peek() is None or lexer.closing():
                break
            self._function()
        return name

    def _tag(self, tag: str) -> None:
        if self.tagged and (found := self.lexer.next()) != tag:
            raise self.source.error(f"{tag!r} was expected, {found[:40]!r} found", self.lexer.line)

    def _header(self) -> str:
        lexer = self.lexer
        lexer.open()
        self._tag("name")
        name = lexer.next()
        self._tag("mustbe")
        word = lexer.next()
        if word[:1] not in ("<", ">"):
            raise self.source.error(f'a bound such as "<10.0" was expected, {word[:40]!r} found', lexer.line)
        self.draft.maximize = word[0] == ">"
        text = word[1:] or lexer.next()
        bound = lexer.number(text)
        lexer.close()
        self.bound = -bound if self.draft.maximize and bound == np.inf else bound
        return name

    def _variable(self) -> None:
        lexer, draft = self.lexer, self.draft
        index = len(draft.sizes)
        name = f"x{index}"
        if lexer.peek() not in ("{", "[") and not lexer.peek_any(DIGITS):
            name = lexer.next()
        if lexer.peek() in ("{", "["):
            line = lexer.line
            lexer.next()
            names: list[Label] = []
            while not lexer.closing():
                names.append(value := lexer.word("a value name"))
                if value[0] in DIGITS:  # tuples would take it for an index
                    raise self.source.error(f"value name {value[:40]!r} starts with a digit", lexer.line)
            draft.add_variable(name, draft.domain([names], line), line)
            self.values.append({str(one): i for i, one in enumerate(names)})
            return
        size = abs(lexer.integer("a domain size"))  # a negative size is an interval in toulbar2: the same values
        draft.add_variable(name, size, lexer.line)
        self.values.append({})

    def _dense_function(self) -> bool:
        """Take a function of the commonest form in one go; False, and nothing taken, if it is not of it or wrong."""
        match = self.lexer.dense_function() if self.tagged else None
        if match is None:
            return False
        name, names, listed = match.groups()
        scope = [self.draft.index.get(one) for one in names.split('"')[1::2]]
        if None in scope or len(set(scope)) < len(scope):
            return False
        variables = cast("list[int]", scope)
        key = (listed, *[self.draft.sizes[v] for v in variables])
        table = self.tables.get(key)
        if table is None:
            costs = parse_list(listed.translate(SEPARATORS))
            line = self.lexer.line_of(match)
            if costs is None or np.isnan(costs).any() or len(costs) != math.prod(self.draft.shape(variables, line)):
                return False
            costs[costs == np.inf] = self.draft.forbidden
            table = self.draft.add_table(costs, line)
            if len(listed) >= LONG_BYTES and self.known_bytes < KNOWN_BYTES:
                if (brief := hash(key)) in self.seen:
                    self.tables[key] = table
                    self.known_bytes += len(listed)
                self.seen.add(brief)
        self.lexer.take(match)
        self._define(name, variables, table)
        return True

    def _function(self) -> None:
        lexer = self.lexer
        name = None if lexer.peek() in ("{", "[") else lexer.next()
        lexer.open()
        self._tag("scope")
        lexer.open()
        line, scope = lexer.line, []
        while not lexer.closing():
            scope.append(self._scope_variable())
        self.draft.check_scope(scope, line)
        default: float | None = None
        key = lexer.peek()
        if self.tagged and key == "defaultcost":
            lexer.next()
            default = self._cost(lexer.number(lexer.next()))
        elif not self.tagged and lexer.peek_any(DIGITS + "-+."):
            default = self._cost(lexer.number(lexer.next()))
        if self.tagged and (word := lexer.next()) != "costs":
            if word != "type":
                raise self.source.error(f"'costs' was expected, {word[:40]!r} found", lexer.line)
            self._intensional(lexer.next(), scope, name, line)
            return
        if lexer.peek() not in ("{", "["):
            other = lexer.word("the name of a function")
            if lexer.peek() in ("{", "["):
                self._intensional(other, scope, name, line)
                return
            lexer.close()
            self.waiting.append((self.draft.add_factor(scope, -1, name) if scope else -1, name, other, line))
            return
        lexer.next()
        shape = self.draft.shape(scope, line)
        costs = self._listed(scope, shape) if default is None else self._tuples(scope, shape, default)
        lexer.close()
        self._define(name, scope, self.draft.add_table(costs, line))

    def _define(self, name: str | None, scope: list[int], table: int) -> None:
        factor = self.draft.add_factor(scope, table, name)
        if name is not None:
            self.defining.setdefault(name, (factor if scope else -1, table))

    def _intensional(self, keyword: str, scope: list[int], name: str | None, line: int) -> None:
        """A function by keyword; tags of its parameters can be left out."""
        lexer = self.lexer
        self._tag("params")
        lexer.open()
        try:
            if keyword == "cfnconstraint":
                self._post(keyword, self._cost_between(scope), scope, name, line)
                return
            tree = self._tree()
            lexer.close()
            if keyword not in KEYWORDS:
                whole = self._whole(scope)
                variable = partial(self._scope_word, line=line)
                self._post(keyword, fields_of_tree(keyword, tree, whole, variable), scope, name, line)
            elif self.draft.maximize:
                raise NotSupported("only tables of costs are")
            else:
                self._post_pair(keyword, tree, scope, name, line)
        except NotSupported as reason:
            raise self.source.error(f"global function {keyword[:40]!r} is not supported: {reason}", line) from None

    def _whole(self, scope: list[int]) -> Scope:
        return Scope(scope, [self.draft.sizes[v] for v in scope], np.inf, -1 if self.draft.maximize else 1)

    def _post(self, keyword: str, fields: Fields, scope: list[int], name: str | None, line: int) -> None:
        self.posting.post(keyword, fields, self._whole(scope), name or "", line)

    def _post_pair(self, keyword: str, tree: Tree, scope: list[int], name: str | None, line: int) -> None:
        if any(isinstance(word, list) for word in tree):
            raise NotSupported("its parameters are numbers")
        tree = [word for word in tree if word not in ("metric", "cost", "capacity", "weights")]
        words = Words(iter(tree))
        shape = tuple(self.draft.sizes[v] for v in scope)
        parts = expand(keyword, words, shape, self.source.meter.left, self.recipes)
        if words.taken < len(tree):
            raise NotSupported("it has too many parameters")
        self.source.meter.take_cells(PART * len(parts), line)
        for axes, recipe in parts:
            if recipe not in self.recipes:
                self.recipes[recipe] = self.draft.add_table(recipe.table(), line)
            self.draft.add_factor([scope[axis] for axis in axes], self.recipes[recipe], name)

    def _tree(self) -> Tree:
        """The words up to the closing bracket, those in brackets of their own as lists."""
        stack: list[Tree] = [[]]
        while stack:
            word = self.lexer.next()
            if word in ("{", "["):
                stack.append([])
            elif word in ("}", "]"):
                tree = stack.pop()
                if stack:
                    stack[-1].append(tree)
            else:
                stack[-1].append(word)
        return tree

    def _cost_between(self, scope: list[int]) -> Fields:
        """The problem within ``cfnconstraint``, tables only, and bounds on its cost."""
        lexer, inner = self.lexer, _Reader(self.source, self.lexer)
        if lexer.peek() == "cfn":
            lexer.next()
        name = inner._content()
        lexer.close()
        inner._resolve()
        problem = inner.posting.onto(inner.draft.problem(name))
        if problem.auxiliaries.count:
            raise NotSupported("the problem within it has functions that need auxiliary variables")
        if inner.draft.maximize != self.draft.maximize:
            raise NotSupported("the problem within it is not of the same direction")
        if inner.draft.sizes != [self.draft.sizes[v] for v in scope]:
            raise NotSupported("the problem within it has other variables than it")
        bounds = []
        for tag in ("lb", "ub", "duplicatehard", "strongduality"):
            if lexer.peek() == tag:
                lexer.next()
            bounds.append(lexer.number(lexer.next()))
        lexer.close()
        lexer.close()
        costs = [tuple(problem.cells(f).tolist()) for f in range(problem.num_factors)]
        parts = [
            (tuple(problem.scope(f).tolist()), problem.table(f).shape, costs[f]) for f in range(problem.num_factors)
        ]
        low, high = bounds[:2]
        if self.draft.maximize:
            low = max(low, math.nextafter(inner.bound, math.inf)) if np.isfinite(inner.bound) else low
        else:
            high = min(high, inner.bound)
        return between(low, high, [((), (), (problem.constant,)), *parts])

    def _scope_word(self, word: str, line: int) -> int:
        if word[:1] not in DIGITS or not word:
            return self.draft.variable(word, line)
        return int(word) if re.fullmatch(r"[0-9]{1,18}", word) else -1

    def _resolve(self) -> None:
        """Give functions the tables of others, which may stand later in the file."""
        for factor, name, other, line in self.waiting:
            if other not in self.defining:
                raise self.source.error(f"there is no function {other[:40]!r} to share costs with", line)
            defining, table = self.defining[other]
            if factor < 0 and defining < 0:
                self.draft.add_factor([], table, name)
            elif factor < 0 or defining < 0 or not self.draft.share_table(factor, defining):
                raise self.source.error(f"it shares costs with {other[:40]!r} on other domain sizes", line)

    def _scope_variable(self) -> int:
        word = self.lexer.word("a variable")
        if word[0] not in DIGITS:
            return self.draft.variable(word, self.lexer.line)
        index = int(word) if re.fullmatch(r"[0-9]{1,18}", word) else -1
        if not 0 <= index < len(self.draft.sizes):
            raise self.source.error(f"there is no variable {word[:40]!r}", self.lexer.line)
        return index

    def _cost(self, value: float) -> float:
        return self.draft.forbidden if value == np.inf else value

    def _listed(self, scope: list[int], shape: tuple[int, ...]) -> NDArray[np.float64]:
        line = self.lexer.line
        costs = self.lexer.numbers()
        expected = int(np.prod(shape))
        if len(costs) != expected:
            raise self.source.error(f"{expected} costs were expected, {len(costs)} found", line)
        costs[costs == np.inf] = self.draft.forbidden
        return costs

    def _tuples(self, scope: list[int], shape: tuple[int, ...], default: float) -> NDArray[np.float64]:
        """Values and cost, values and cost …; the rest costs the default."""
        costs = np.full(shape, default)
        lexer = self.lexer
        if not scope:
            if not lexer.closing():
                costs[()] = self._cost(lexer.number(lexer.next()))
                lexer.close()
            return costs
        while not lexer.closing():
            place = tuple(self._value(v, lexer.word("a value")) for v in scope)
            costs[place] = self._cost(lexer.number(lexer.word("a cost")))
        return costs

    def _value(self, variable: int, word: str) -> int:
        size = self.draft.sizes[variable]
        names = self.values[variable]
        if re.fullmatch(r"[0-9]{1,18}", word):
            index = int(word)
        elif names:
            index = names.get(word, -1)
        else:  # values without names are v0, v1, … to toulbar2
            index = int(word[1:]) if re.fullmatch(r"v\d{1,18}", word) else -1
        if not 0 <= index < size:
            raise self.source.error(f"value {word[:40]!r} is not in its variable's domain", self.lexer.line)
        return index


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of a ``.cfn`` file that toulbar2 reads too, and notes on what it could not say."""
    notes: list[str] = []
    whole, sign = problem, -1.0 if problem.maximize else 1.0
    problem, written = apart(problem, lambda cost: True)
    written = [signed(one, lambda cost: sign * cost if np.isfinite(cost) else cost) for one in written]
    names = distinct_names([_name(one, "x") for one in problem.names.variables])
    if tuple(names) != problem.names.variables:
        notes.append("names of variables that .cfn cannot have are changed (no spaces, no first digit)")
    values: list[list[str] | None] = []
    for i in range(problem.num_variables):
        labels = problem.names.labels(i)
        if labels == tuple(range(len(labels))):
            values.append(None)
            continue
        values.append(distinct_names([_name(str(one), "v") for one in labels]))
    if any(row is not None and tuple(row) != problem.names.labels(i) for i, row in enumerate(values)):
        notes.append("names of values that .cfn cannot have are changed (no spaces, no first digit)")
    bound, decimals, enough = _bound(whole, [cost for one in written for cost in costs_of(one)])
    if not enough:
        notes.append(f"toulbar2 will read {decimals} decimals of each cost; they are written in full")
    return _lines(problem, names, values, bound, written), notes + auxiliary_notes(problem)


def _name(text: str, prefix: str) -> str:
    text = re.sub(r'[\s":,{}\[\]#/\\]', "_", text) or "_"
    return prefix + text if text[0] in DIGITS or text[0] in "<>" else text


def _bound(problem: Problem, more: list[float]) -> tuple[str, int, bool]:
    """A bound that excludes nothing, with as many decimals as costs need, if toulbar2's 64 bits can count them.

    `more` are costs beside those of the problem's tables: prices of functions that are written by keyword.
    """
    finite = np.concatenate([problem.pool, [problem.constant], more])
    finite = finite[np.isfinite(finite)]
    total = int(problem.facts.magnitude) + 2
    exact = [(np.rint(finite * 10.0**n) / 10.0**n == finite).all() for n in range(16)]
    wanted = exact.index(True) if True in exact else 99
    decimals = min(wanted, 15)
    while decimals and 2.0 * total * 10.0**decimals > 1e15:
        decimals -= 1
    fraction = "." + "0" * decimals if decimals else ""
    sign = ">-" if problem.maximize else "<"
    return f"{sign}{total}{fraction}", decimals, decimals >= wanted


def _lines(
    problem: Problem, names: list[str], values: list[list[str] | None], bound: str, written: list[Written]
) -> Iterator[str]:
    yield f'{{"problem": {{"name": "{_name(problem.name, "p")}", "mustbe": "{bound}"}},\n"variables": {{\n'
    for i, name in enumerate(names):
        row = values[i]
        domain = str(problem.domain_sizes[i]) if row is None else "[" + ", ".join(f'"{one}"' for one in row) + "]"
        yield f'  "{name}": {domain}{"," if i + 1 < len(names) else ""}\n'
    yield '},\n"functions": {\n'
    last = problem.num_factors - 1 + (problem.constant != 0) + len(written)
    own = [problem.names.factor(f) for f in range(problem.num_factors)] + [one.name or "f" for one in written]
    labels = distinct_names([_name(name, "f") for name in own])
    for f in range(problem.num_factors):
        scope = ", ".join(f'"{names[v]}"' for v in problem.scope(f).tolist())
        yield f'  "{labels[f]}": {{"scope": [{scope}], {_costs(problem.table(f))}}}{"," if f < last else ""}\n'
    if problem.constant:
        yield f'  "constant": {{"scope": [], "costs": [{_cost(problem.constant)}]}}{"," if written else ""}\n'
    for number, one in enumerate(written):
        scope, params = ", ".join(f'"{names[v]}"' for v in one.scope), params_of(one.keyword, one.fields)
        label = labels[problem.num_factors + number]
        yield f'  "{label}": {{"scope": [{scope}], "type": "{one.keyword}", "params": {params}}}'
        yield "\n" if number == len(written) - 1 else ",\n"
    yield "}\n}\n"


def _costs(table: NDArray[np.float64]) -> str:
    """Every cost; for four variables or more a default and tuples, as toulbar2 adds up dense lists of those wrongly."""
    if table.ndim < 4:
        return f'"costs": [{", ".join(map(_cost, table.ravel().tolist()))}]'
    costs, counts = np.unique(table, return_counts=True)
    default = float(costs[np.argmax(counts)])
    rows = np.argwhere(table != default).tolist()
    tuples = ", ".join(f"{', '.join(map(str, row))}, {_cost(float(table[tuple(row)]))}" for row in rows)
    return f'"defaultcost": {_cost(default)}, "costs": [{tuples}]'


def _cost(value: float) -> str:
    """Decimals without an exponent, which toulbar2 does not read."""
    if np.isinf(value):
        return "inf"
    return str(int(value)) if value == int(value) else np.format_float_positional(value, trim="-")
