"""Expressions in files mean what Python means by them, and are never run."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.errors import FormatError
from dabp.formats.expressions import Expression
from dabp.formats.text import Source

_SOURCE = Source("f.yaml", b"", 2**24)
_DOMAINS = {"x": [-2, 0, 1, 3], "y": [0.5, 2, -1], "c": ["R", "G", "blue"]}

_atoms = st.sampled_from(["x", "y", "0", "1", "2", "3.5", "-1", "0.1", "True", "1e-3"])
_expressions = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(inner, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), inner).map(
            "({0[0]} {0[1]} {0[2]})".format
        ),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(inner, inner, inner).map("({0[0]} < {0[1]} <= {0[2]})".format),
        st.tuples(inner, inner).map("min({0[0]}, {0[1]}, 2)".format),
        st.tuples(inner, inner).map("({0[0]} in ({0[1]}, 1, 3))".format),
        inner.map("abs({0})".format),
        inner.map("round({0})".format),
        inner.map("round({0}, 1)".format),
        inner.map("int({0})".format),
        inner.map("({0}) ** 0".format),
        inner.map("1 ** ({0})".format),
        inner.map("(not {0})".format),
        inner.map("-{0}".format),
        inner.map("({0} if c == 'R' else 2)".format),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(text=_expressions)
def test_same_as_python(text: str) -> None:
    """Each cell is what Python computes for its values; where Python fails, the whole expression is refused."""
    expression = Expression(_SOURCE, text, 1)
    domains = {name: _DOMAINS[name] for name in expression.names}
    try:
        expected = [
            float(eval(text, {}, dict(zip(domains, values, strict=True))))
            for values in itertools.product(*domains.values())
        ]
    except (ZeroDivisionError, OverflowError):
        with pytest.raises(FormatError, match="has no value for some values"):
            expression.evaluate(domains, {})
        return
    assert expression.evaluate(domains, {}).ravel().tolist() == expected


_conditions = st.sampled_from(["x > 0", "y < a", "a == b", "c == 'R'", "t == 'G'", "not x", "a < y <= b", "1"])
_numbers = st.sampled_from(["x", "y", "a", "b", "2", "a + x", "b - 1", "a * y", "(b if t == 'G' else x)"])
_simple = st.one_of(
    st.tuples(st.sampled_from("ab"), _numbers).map(" = ".join),
    st.sampled_from(["t = 'G'", "t = c", "pass"]),
    _numbers.map("return {}".format),
)


def _indented(statements: list[str]) -> str:
    return "\n".join(" " + line for statement in statements for line in statement.split("\n"))


_statements = st.recursive(
    _simple,
    lambda inner: st.one_of(
        st.tuples(_conditions, st.lists(inner, min_size=1, max_size=3)).map(
            lambda parts: f"if {parts[0]}:\n{_indented(parts[1])}"
        ),
        st.tuples(_conditions, st.lists(inner, min_size=1, max_size=3), st.lists(inner, min_size=1, max_size=3)).map(
            lambda parts: f"if {parts[0]}:\n{_indented(parts[1])}\nelse:\n{_indented(parts[2])}"
        ),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(statements=st.lists(_statements, max_size=6), last=st.sampled_from(["return a - b", "return 3", "pass"]))
def test_bodies_same_as_python(statements: list[str], last: str) -> None:
    """Function bodies return in each cell what Python returns; where one ends without return, they are refused."""
    text = "\n".join(["a = x", "b = 1", "t = 'R'", *statements, last, "if x == 99:", " return 0"])
    local: dict[str, Callable[..., float | None]] = {}
    exec(f"def f(x, y, c):\n{_indented([text])}", {}, local)
    expected = [local["f"](*values) for values in itertools.product(*_DOMAINS.values())]
    expression = Expression(_SOURCE, text, 1)
    if None in expected:
        with pytest.raises(FormatError, match="can end without return"):
            expression.evaluate(_DOMAINS, {})
    else:
        assert expression.evaluate(_DOMAINS, {}).ravel().tolist() == expected


@pytest.mark.parametrize("conditions", [12, 200])
def test_work_of_conditions(conditions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions one after another are evaluated once each, as `steps` says, not once for all that precede them."""
    calls = 0
    plain = Expression._value

    def counting(*args: object) -> object:
        nonlocal calls
        calls += 1
        return plain(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(Expression, "_value", counting)
    text = "a = 0\n" + "".join(f"if x > {i}:\n a = a + 1\n" for i in range(conditions)) + "return a"
    expression = Expression(_SOURCE, text, 1)
    assert expression.evaluate({"x": [0, 5, 1000]}, {}).tolist() == [0, 5, conditions]
    assert calls <= expression.steps < 20 * conditions + 20


def test_limit_on_joined_names() -> None:
    """Names assigned deep inside conditions are joined at every level, which takes time that text does not show."""
    body = "".join(" " * i + f"if x > {i}:\n" for i in range(60))
    body += " " * 60 + ";".join(f"a{i}=1" for i in range(100)) + "\nreturn 1"
    with pytest.raises(FormatError, match="the conditions of a function assign more than 1000 names"):
        Expression(_SOURCE, body, 1)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("if a:\n b = 'R'\nelse:\n b = 2\nreturn 1 if b == 'R' else 0", {"a": [0, 1]}, [0, 1]),
        ("if a:\n b = 'R'\n return 1\nb = 2\nreturn b + 1", {"a": [0, 1]}, [3, 1]),
        ("if a:\n b = 5\nreturn b if a else 0", {"a": [0, 1]}, [0, 5]),
        ("if a:\n return 1 / a\nelse:\n return 0\nreturn nothing", {"a": [0, 2], "nothing": [0]}, [0, 0.5]),
        ("1 if a == b else 0", {"a": ["R", "G"], "b": ["R", "G"]}, [1, 0, 0, 1]),
        ("5 if a in ['R', 'B'] else k", {"a": ["R", "G"]}, [5, 7]),
        ("a ** 2 - 2 ** -1", {"a": [0, 1, -3]}, [-0.5, 0.5, 8.5]),
        ("float('inf') if a else 0", {"a": [0, 1]}, [0, float("inf")]),
        ("0 if a == 0 else 1 / a", {"a": [0, 4]}, [0, 0.25]),
        ("if a > 1:\n    return 3\nb = a * 2\nreturn b", {"a": [0, 1, 2]}, [0, 2, 3]),
        ("if a == 0:\n  return 1\nelif a == 1:\n  return 2\nelse:\n  return 3", {"a": [0, 1, 2]}, [1, 2, 3]),
    ],
)
def test_examples(text: str, values: dict[str, list[object]], expected: list[float]) -> None:
    """Text, membership, powers, infinity, guarded divisions and function bodies, worked out by hand."""
    assert Expression(_SOURCE, text, 1).evaluate(values, {"k": 7}).ravel().tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__[0]",
        "open('/etc/passwd').read()",
        "[x for x in range(10)]",
        "(lambda: 1)()",
        "f'{x}'",
        "x[0]",
        "x.real",
        "x if (y := 1) else 0",
        "x @ x",
        "x << 1000000",
        "abs(x, key=1)",
        "pow(x, 2)",
        "sum([x])",
        "b'x'",
        "...",
        "None",
        "1j",
        "*x",
        "",
        "x +",
        "import os\nreturn 1",
        "while True:\n    pass\nreturn 1",
        "return",
        "(" * 300 + "x" + ")" * 300,
        "-" * 5000 + "x",
        "x" + " + x" * 4000,
        "'a' * 10 ** 9",
        "'a' < 1",
        "if x:\n b = 1\nreturn b",
        "if x:\n b = 'a'\nreturn 1 if b == 'a' else 0",
        "if 1 / x > 0:\n b = 'a'\nelse:\n b = 'b'\nreturn 1 if b == 'a' else 0",
        "1 if ('a' if 1 / x > 0 else 'b') == 'a' else 0",
        "('a' if x else 1) < ('b' if y else 0)",
        "if x:\n return 1",
        "(1 / x) ** 0",
        "1 ** (1 / x)",
        "int(float('inf'))",
        "round(float('-inf'))",
        "if x:\n return 'a'\nreturn 1",
    ],
)
def test_refused(text: str) -> None:
    """Anything but arithmetic and conditions is refused with its line, quickly."""
    with pytest.raises(FormatError) as caught:
        Expression(_SOURCE, text, 7).evaluate({"x": [0, 1], "y": [1]}, {})
    assert caught.value.line == 7


@pytest.mark.parametrize(
    "text",
    [
        "a = b = x + y\nreturn a * 10 + b",
        "if x > 0:\n    a = b = c = x\nelse:\n    a = b = c = y\n    b = 3\nreturn a + 10 * b + 100 * c",
    ],
)
def test_chained_assignments(text: str) -> None:
    """Each name of ``a = b = …`` is assigned, as in Python."""
    scope: dict[str, Callable[[float, float], float]] = {}
    exec("def f(x, y):\n" + "\n".join("    " + line for line in text.split("\n")), scope)
    domains = {"x": [-2, 0, 1, 3], "y": [0.5, 2, -1]}
    table = Expression(_SOURCE, text, 1).evaluate(domains, {})
    for i, x in enumerate(domains["x"]):
        for j, y in enumerate(domains["y"]):
            assert table[i, j] == scope["f"](x, y)


@pytest.mark.parametrize("text", ["a, b = x, y\nreturn a", "a = (b, c) = x\nreturn a", "a = x.y = 3\nreturn a"])
def test_other_targets_are_refused(text: str) -> None:
    """What is no plain name cannot be assigned to, in a chain neither."""
    with pytest.raises(FormatError, match="an expression cannot have"):
        Expression(_SOURCE, text, 1).evaluate({"x": [1, 2], "y": [1, 2]}, {})
