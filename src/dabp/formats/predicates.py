"""XCSP 2.1 predicates: functional expressions such as ``ge(abs(sub(X0,X1)),K)``, evaluated into tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from dabp.formats.text import Source
from dabp.problem import Label

_Array = NDArray[np.float64]
_Tree = float | str | tuple[str, list["_Tree"]]
_TOKEN = re.compile(r"\s*([A-Za-z_][\w.$]*|[+-]?\d+|[(),])")


def _chosen(condition: _Array, yes: _Array, no: _Array) -> _Array:
    return np.where(condition != 0, yes, no)


OPERATORS: dict[str, tuple[int, Callable[..., _Array]]] = {
    "neg": (1, np.negative),
    "abs": (1, np.abs),
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "mul": (2, np.multiply),
    "div": (2, lambda a, b: np.trunc(a / b)),
    "mod": (2, np.fmod),
    "pow": (2, np.power),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "eq": (2, np.equal),
    "ne": (2, np.not_equal),
    "ge": (2, np.greater_equal),
    "gt": (2, np.greater),
    "le": (2, np.less_equal),
    "lt": (2, np.less),
    "not": (1, np.logical_not),
    "and": (2, np.logical_and),
    "or": (2, np.logical_or),
    "xor": (2, np.logical_xor),
    "iff": (2, lambda a, b: (a != 0) == (b != 0)),
    "if": (3, _chosen),
}
"""Operator → number of operands and meaning; truth is 1 and 0, integer division rounds towards zero."""


class Predicate:
    """A ``<predicate>`` (what is false is forbidden) or ``<function>`` (its value is the cost)."""

    def __init__(self, source: Source, node: Element, line: int):
        self._source, self._line = source, line
        self.soft = node.tag == "function"
        words = (node.findtext("parameters") or "").split()
        if len(words) % 2 or any(kind != "int" for kind in words[::2]):
            raise source.error("parameters of a predicate are 'int name int name …'", line)
        self._parameters = words[1::2]
        self._known = frozenset(self._parameters)
        text = node.findtext("expression/functional")
        if text is None:
            raise source.error("a predicate without a <functional> expression is not supported", line)
        self._tokens: list[str] = []
        self._tree = self._parse(text)
        self.steps = text.count("(") + 1

    def _parse(self, text: str) -> _Tree:
        place, text = 0, text.strip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise self._source.error(f"an expression cannot have {text[place : place + 10]!r}", self._line)
            self._tokens.append(match[1])
            place = match.end()
        self._tokens.reverse()
        tree = self._term(0)
        if self._tokens:
            raise self._source.error(f"an expression goes on after its end with {self._tokens[-1][:20]!r}", self._line)
        return tree

    def _next(self) -> str:
        if not self._tokens:
            raise self._source.error("an expression ends early", self._line)
        return self._tokens.pop()

    def _term(self, depth: int) -> _Tree:
        word = self._next()
        if depth > 100:
            raise self._source.error("an expression is nested more than 100 deep", self._line)
        if word.lstrip("+-").isdecimal():
            return float(word)
        if not (self._tokens and self._tokens[-1] == "("):
            if word not in self._known:
                raise self._source.error(f"{word[:20]!r} is not a parameter of the predicate", self._line)
            return word
        if word not in OPERATORS:
            raise self._source.error(f"operator {word[:20]!r} is not supported", self._line)
        self._next()
        operands = [self._term(depth + 1)]
        while (mark := self._next()) == ",":
            operands.append(self._term(depth + 1))
        if mark != ")" or len(operands) != OPERATORS[word][0]:
            raise self._source.error(f"{word!r} takes {OPERATORS[word][0]} operands in brackets", self._line)
        return word, operands

    def evaluate(self, words: Sequence[str], domains: Mapping[str, Sequence[Label]], line: int) -> _Array:
        """The table over a constraint's scope, name → values of each variable, for its actual parameters."""
        if len(words) != len(self._parameters):
            raise self._source.error(f"{len(self._parameters)} parameters are needed, {len(words)} found", line)
        actual: dict[str, _Array] = {}
        for axis, (name, labels) in enumerate(domains.items()):
            if any(isinstance(label, str) for label in labels):
                raise self._source.error(f"variable {name!r} has values that are not numbers", line)
            actual[name] = np.array(labels, float).reshape([-1 if a == axis else 1 for a in range(len(domains))])
        for word in words:
            if word not in domains:
                if not re.fullmatch(r"[+-]?\d{1,15}", word):
                    raise self._source.error(f"parameter {word[:40]!r} is neither in the scope nor an integer", line)
                actual[word] = np.asarray(float(word))
        named = {name: actual[word] for name, word in zip(self._parameters, words, strict=True)}
        with np.errstate(all="ignore"):
            values = _evaluate(self._tree, named)
        if np.isnan(values).any():
            raise self._source.error("an expression divides by zero or overflows", line)
        return np.array(np.broadcast_to(values, tuple(map(len, domains.values()))))


def _evaluate(tree: _Tree, actual: dict[str, _Array]) -> _Array:
    """The value in each cell, nan where it is undefined: divisions by zero, overflows, and what is made of them.

    An undefined operand of ``and``, ``or`` and ``if`` does not matter where the others decide.
    """
    if isinstance(tree, str):
        return actual[tree]
    if isinstance(tree, float):
        return np.asarray(tree)
    operator, operands = tree[0], [_evaluate(operand, actual) for operand in tree[1]]
    unknown = [np.isnan(operand) for operand in operands]
    undefined = np.logical_or.reduce(np.broadcast_arrays(*unknown))
    if operator == "if":
        undefined = unknown[0] | np.where(operands[0] != 0, unknown[1], unknown[2])
    elif operator in ("and", "or"):
        deciding = [~nan & ((value != 0) == (operator == "or")) for nan, value in zip(unknown, operands, strict=True)]
        undefined = undefined & ~(deciding[0] | deciding[1])
        operands = [np.where(nan, operator == "and", value) for nan, value in zip(unknown, operands, strict=True)]
    value = np.asarray(OPERATORS[operator][1](*operands), dtype=np.float64)
    return np.where(undefined | np.isinf(value), np.nan, value)
