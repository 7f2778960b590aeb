"""Bayesian networks in the interchange format (``.bif``) of JavaBayes, bnlearn and pgmpy; see docs/formats/bif.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.bayes import Network, distributions, name_notes
from dabp.formats.comments import without_comments
from dabp.formats.numerals import NUMBER
from dabp.formats.text import Source
from dabp.problem import Problem

_WORD = re.compile(r'"([^"\n]*)"|([{}()\[\]|,;])|([^\s"{}()\[\]|,;]+)')


def read(source: Source) -> Problem:
    """Parse a ``.bif`` file."""
    return _Reader(source).problem()


class _Words:
    """One word after another, with its line; marks are words, too, and quotes only group letters."""

    def __init__(self, source: Source):
        self._source = source
        source.data = without_comments(source.data, slashes=True)
        self._text = source.text()
        source.release()
        if "/*" in self._text:
            self._text = _without_blocks(self._text)
        self._at = 0
        self._counted = (0, 1)
        self._is_mark = False  # whether the last word is a mark; a quoted one is none

    @property
    def line(self) -> int:
        place, line = self._counted
        self._counted = (self._at, line + self._text.count("\n", place, self._at))
        return self._counted[1]

    def next(self) -> str:
        match = _WORD.search(self._text, self._at)
        self._at = len(self._text) if match is None else match.end()
        quoted, mark, plain = ("", None, None) if match is None else match.groups()
        self._is_mark = mark is not None
        return str(quoted if quoted is not None else mark or plain)

    def name(self, what: str) -> str:
        word = self.next()
        if self._is_mark or not word:
            raise self.unexpected(what, word)
        return word

    def expect(self, expected: str) -> None:
        for word in expected.split():
            if (found := self.next()) != word:
                raise self.unexpected(repr(word), found)

    def names(self, end: str, what: str) -> list[str]:
        """Names up to a mark; commas only separate them."""
        found = []
        while (word := self.next()) != end or not self._is_mark:
            if self._is_mark and word == ",":
                continue
            if self._is_mark or not word:
                raise self.unexpected(f"{what} or {end!r}", word)
            found.append(word)
        return found

    def skip(self) -> None:
        while (word := self.next()) != ";":
            if not word:
                raise self.error("the file ends early")

    def error(self, message: str) -> FormatError:
        return self._source.error(message, self.line)

    def unexpected(self, what: str, word: str) -> FormatError:
        return self.error(f"{what} was expected, {word[:40]!r} found")


def _without_blocks(text: str) -> str:
    """The text with spaces for what stands between ``/*`` and ``*/``, lines kept."""
    parts, start = [], 0
    while (first := text.find("/*", start)) >= 0:
        end = text.find("*/", first + 2)
        end = len(text) if end < 0 else end + 2
        parts += [text[start:first], "\n" * text.count("\n", first, end)]
        start = end
    return "".join([*parts, text[start:]])


class _Reader:
    def __init__(self, source: Source):
        self.source = source
        self.words = _Words(source)
        self.network = Network(source)

    def problem(self) -> Problem:
        words = self.words
        words.expect("network")
        name = words.next()
        if name != "{":
            words.expect("{")
        if name in ("{", "unknown"):  # which bnlearn calls every network
            name = self.source.stem
        while (word := words.next()) != "}":
            if word != "property":
                raise words.unexpected("'property' or '}'", word)
            words.skip()
        while word := words.next():
            if word == "variable":
                self._variable()
            elif word == "probability":
                self._probability()
            else:
                raise words.unexpected("'variable' or 'probability'", word)
        return self.network.problem(name)

    def _variable(self) -> None:
        words = self.words
        name, line = words.name("a variable"), words.line
        words.expect("{")
        states: list[str] | None = None
        while (word := words.next()) != "}":
            if word == "property":
                words.skip()
                continue
            if word != "type":
                raise words.unexpected("'type', 'property' or '}'", word)
            states = self._states()
        if states is None:
            raise self.source.error(f"variable {name[:40]!r} has no type", line)
        self.network.add_variable(name, states, line)

    def _states(self) -> list[str]:
        words = self.words
        kind = words.name("a type")
        if kind != "discrete":
            raise words.error(f"variables of type {kind[:40]!r} are not supported, only discrete ones")
        words.expect("[")
        count = words.name("a number of values")
        words.expect("] {")
        states = words.names("}", "a value")
        if count != str(len(states)):
            raise words.error(f"{count[:40]} values were announced, {len(states)} found")
        words.expect(";")
        return states

    def _probability(self) -> None:
        words = self.words
        words.expect("(")
        line, child, parents = words.line, words.name("a variable"), list[str]()
        mark = words.next()
        if mark == "|":
            parents = words.names(")", "a variable")
        elif mark != ")":
            raise words.unexpected("'|' or ')'", mark)
        scope, shape = self.network.scope(child, parents, line)
        table, filled = np.full(shape, np.nan), False
        words.expect("{")
        while (word := words.next()) != "}":
            if word == "property":
                words.skip()
            elif word == "table":
                # the child is the slowest here
                table = np.moveaxis(self._numbers(table.size).reshape(shape[-1], *shape[:-1]), 0, -1)
            elif word == "default":
                if filled:  # each takes as long as the table is large
                    raise words.error(f"variable {child[:40]!r} has two defaults")
                filled = True
                table = np.where(np.isnan(table), self._numbers(shape[-1]), table)
            elif word == "(":
                place = self._place(scope)
                table[place] = self._numbers(shape[-1])
            else:
                raise words.unexpected("'table', 'default', '(' or '}'", word)
        if np.isnan(table).any():
            raise self.source.error(
                f"variable {child[:40]!r} has no probabilities for some values of its parents", line
            )
        self.network.add_table(scope, table, child, line)

    def _place(self, scope: list[int]) -> tuple[int, ...]:
        states = self.words.names(")", "a value")
        if len(states) != len(scope) - 1:
            raise self.words.error(f"{len(scope) - 1} values of parents were expected, {len(states)} found")
        place = []
        for variable, state in zip(scope, states, strict=False):
            try:
                place.append(self.network.draft.domain_of[variable].index[state])
            except KeyError:
                named = self.network.draft.names[variable]
                raise self.words.error(f"value {state[:40]!r} is not in the domain of {named[:40]!r}") from None
        return tuple(place)

    def _numbers(self, count: int) -> NDArray[np.float64]:
        words = self.words.names(";", "a probability")
        if len(words) != count:
            raise self.words.error(f"{count} probabilities were expected, {len(words)} found")
        for word in words:
            if not NUMBER.fullmatch(word):
                raise self.words.unexpected("a probability", word)
        return np.array([float(word) for word in words])


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of a ``.bif`` file, and notes on what it could not say."""
    factors = distributions(problem)
    fits = re.compile('[^"\n]*').fullmatch
    notes = name_notes(problem, lambda text: bool(fits(text)), ".bif, whose names have no quotes and are not empty")
    return _lines(problem, factors), notes


def _quoted(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][\w.<>=+/-]*", text)
    return text if plain and "//" not in text and "/*" not in text else f'"{text}"'


def _lines(problem: Problem, factors: list[int]) -> Iterator[str]:
    yield f"network {_quoted(problem.name.replace(chr(34), '_') or 'network')} {{\n}}\n"
    states = [[_quoted(str(one)) for one in problem.names.labels(i)] for i in range(problem.num_variables)]
    for i, values in enumerate(states):
        kind = f"  type discrete [ {len(values)} ] {{ {', '.join(values)} }};"
        yield f"variable {_quoted(problem.names.variable(i))} {{\n{kind}\n}}\n"
    for f in factors:
        *parents, child = problem.scope(f).tolist()
        given = f" | {', '.join(_quoted(problem.names.variable(v)) for v in parents)}" if parents else ""
        yield f"probability ( {_quoted(problem.names.variable(child))}{given} ) {{\n"
        table = np.exp(-problem.table(f))
        for place in np.ndindex(table.shape[:-1]):
            head = f"({', '.join(states[v][x] for v, x in zip(parents, place, strict=True))})" if parents else "table"
            yield f"  {head} {', '.join(map(repr, table[place].tolist()))};\n"
        yield "}\n"
