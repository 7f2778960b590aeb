"""XCSP 2.1 predicates mean what their definition says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from xml.etree.ElementTree import fromstring

import pytest

from dabp.errors import FormatError
from dabp.formats.predicates import OPERATORS, Predicate
from dabp.formats.text import Source

_SOURCE = Source("f.xml", b"", 2**20)
_MEANING: dict[str, Callable[..., float]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: math.trunc(a / b),
    "mod": math.fmod,
    "pow": lambda a, b: a**b,
    "min": min,
    "max": max,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
    "not": lambda a: not a,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "xor": lambda a, b: bool(a) != bool(b),
    "iff": lambda a, b: bool(a) == bool(b),
    "if": lambda a, b, c: b if a else c,
}


def _predicate(text: str, parameters: str = "int X int Y int Z") -> Predicate:
    node = f"<predicate><parameters>{parameters}</parameters><expression><functional>{text}</functional></expression>"
    return Predicate(_SOURCE, fromstring(node + "</predicate>"), 1)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator(name: str) -> None:
    """Each operator is its definition on positive and negative numbers and zero, where that is defined."""
    arity = OPERATORS[name][0]
    left, right = [-7, -1, 0, 3], [-2, 1, 3] if name in ("div", "mod") else [0, 1, 3]
    domains = [left, right, [5, 8]]
    predicate = _predicate(f"{name}({','.join('XYZ'[:arity])})")
    table = predicate.evaluate(["A", "B", "C"], dict(zip("ABC", domains, strict=True)), 1)
    for places in itertools.product(range(4), range(len(right)), range(2)):
        values = [domain[place] for domain, place in zip(domains, places, strict=True)]
        assert table[places] == float(_MEANING[name](*values[:arity])), values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("add(X", "ends early"),
        ("add(X,Y)Y", "goes on after its end"),
        ("add(X)", "takes 2 operands"),
        ("sin(X)", "operator 'sin' is not supported"),
        ("W", "'W' is not a parameter"),
        ("X;Y", "cannot have"),
        ("neg(" * 101 + "X" + ")" * 101, "nested more than 100 deep"),
    ],
)
def test_what_is_no_expression(text: str, reason: str) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(FormatError, match=reason):
        _predicate(text)


def test_division_by_zero() -> None:
    """A table with a hole is refused."""
    with pytest.raises(FormatError, match="divides by zero"):
        _predicate("div(X,Y)", "int X int Y").evaluate(["A", "0"], {"A": [1, 2]}, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gt(div(1,X),0)", None),
        ("eq(mod(1,X),0)", None),
        ("eq(pow(10,mul(400,X)),1)", None),
        ("min(1,div(1,X))", None),
        ("pow(div(1,X),0)", None),
        ("or(eq(X,0),gt(div(2,X),1))", [1, 0]),
        ("and(gt(div(2,X),1),ne(X,0))", [0, 0]),
        ("if(eq(X,0),5,div(2,X))", [5, 1]),
        ("if(div(1,X),1,2)", None),
    ],
)
def test_undefined_arithmetic(text: str, expected: list[float] | None) -> None:
    """A division by zero has no value unless the expression does not depend on it; comparisons do not hide it."""
    predicate, domains = _predicate(text, "int X"), {"x": (0, 2)}
    if expected is None:
        with pytest.raises(FormatError, match=":3: an expression divides by zero or overflows"):
            predicate.evaluate(["x"], domains, 3)
    else:
        assert predicate.evaluate(["x"], domains, 3).tolist() == expected
