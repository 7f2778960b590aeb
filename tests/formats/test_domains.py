"""Domains whose labels differ in type are different; each is made once, and all count together."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from dabp.errors import FormatError
from dabp.formats import FORMATS, read, write
from dabp.formats.domains import Domain, compact, typed
from dabp.formats.meter import FREE_CELLS
from dabp.formats.text import Source
from dabp.problem import Label, Problem


def _xml(*domains: str) -> str:
    return f"<instance><domains>{''.join(domains)}</domains></instance>"


def _yaml(*values: str) -> str:
    return "domains:\n" + "".join(f"  d{i}: {{values: [{one}]}}\n" for i, one in enumerate(values))


def _peak(text: str, format: str) -> float:
    """The most megabytes that a reader holds besides the file."""
    source = Source("file", text.encode(), FREE_CELLS)
    tracemalloc.start()
    FORMATS[format].load().read(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


@pytest.mark.parametrize("format", ["xml", "yaml"])
@pytest.mark.parametrize("other", [(1.0, 2.0, 3.0), (1, 2.0, 3), (1, 2, 3)], ids=["decimal", "mixed", "the same"])
def test_equal_labels_of_other_types(format: str, other: tuple[Label, ...]) -> None:
    """1 and 1.0 are equal to Python, but not the same label: what is written is read back."""
    costs = list(range(9))
    problem = Problem([3, 3], [0, 1], [0, 2], costs, [0, 9], labels=[(1, 2, 3), other])
    stream = io.StringIO()
    write(problem, stream, format)
    again = read(io.StringIO(stream.getvalue()), format)
    assert again == problem
    assert [list(map(type, again.names.labels(i))) for i in range(2)] == [[int] * 3, list(map(type, other))]


@pytest.mark.parametrize("format", ["xml", "yaml"])
def test_signed_zero(format: str) -> None:
    """0.0 and -0.0 are equal, too, and print differently."""
    problem = Problem([2, 2], [0, 1], [0, 2], [0, 1, 2, 3], [0, 4], labels=[(0.0, 0.5), (-0.0, 0.5)])
    stream = io.StringIO()
    write(problem, stream, format)
    again = read(io.StringIO(stream.getvalue()), format)
    assert [str(again.names.labels(i)) for i in range(2)] == ["(0.0, 0.5)", "(-0.0, 0.5)"]
    assert again.pool.tolist() == [0, 1, 2, 3]


def test_one_relation_on_equal_domains() -> None:
    """A relation has one table for all equal domains, however they are written, and others on other labels."""
    domains = ("1..2", "1 2", "1.0 2.0")
    text = "<instance><domains>"
    text += "".join(f'<domain name="D{i}">{one}</domain>' for i, one in enumerate(domains)) + "</domains><variables>"
    text += "".join(f'<variable name="x{i}" domain="D{i}"/>' for i in range(3)) + "</variables><relations>"
    text += '<relation name="R" semantics="soft" defaultCost="4"/></relations><constraints>'
    text += "".join(f'<constraint scope="x{i}" reference="R"/>' for i in range(3)) + "</constraints></instance>"
    problem = read(io.StringIO(text), "xml")
    assert problem.factor_table.tolist() == [0, 0, 1]
    assert problem.names.labels(0) == (1, 2)


@pytest.mark.parametrize(
    ("text", "format", "line"),
    [
        (_yaml("1 .. 60", "2 .. 60"), "yaml", 3),
        (_yaml("1 .. 60", ", ".join(f"v{i}" for i in range(50))), "yaml", 3),
        (_xml('<domain name="a">1..60</domain>', '<domain name="b">0..9 20..60</domain>'), "xml", 1),
        (_xml('<domain name="a" nbValues="60"/>', '<domain name="b" nbValues="61"/>'), "xml", 1),
        (_xml(f'<domain name="a" nbValues="{"0" * 30}999999999999"/>'), "xml", 1),
        (_xml(f'<domain name="a" nbValues="{"9" * 5000}"/>'), "xml", 1),
    ],
)
def test_limit_on_all_domains_together(text: str, format: str, line: int) -> None:
    """Domains count against the limit together, before any of them is made."""
    with pytest.raises(FormatError, match=f":{line}: its domains would have .* values in all.*--max-cells"):
        read(io.StringIO(text), format, max_cells=100)


def test_equal_domains_count_once() -> None:
    """A domain for each variable is common in XML and takes no more memory than one for all."""
    text = _xml(*(f'<domain name="D{i}">1..60</domain>' for i in range(20)))
    assert read(io.StringIO(text), "xml", max_cells=100).num_variables == 0


def test_zeros_before_a_number_of_values() -> None:
    """Thousands of digits are no traceback, as Python's own limit would be, and zeros do not change a number."""
    text = '<instance><domains><domain name="D" nbValues="%s3">%s</domain></domains>'
    text += '<variables><variable name="x" domain="D"/></variables></instance>'
    for zeros, values in (("0" * 5000, ""), ("0" * 40, "1..3"), ("0" * 5000, "1 2 3")):
        assert read(io.StringIO(text % (zeros, values)), "xml").names.labels(0) == (1, 2, 3)
    with pytest.raises(FormatError, match="a domain of 3 values has 2"):
        read(io.StringIO(text % ("0" * 5000, "1 2")), "xml")


def test_memory_of_long_ranges() -> None:
    """0, 1, … is only a number of values, and a domain that no variable has is never written out."""
    assert _peak(_yaml("0 .. 4000000", "7 .. 5000000") + "variables: {x: {domain: d0, initial_value: 9}}\n", "yaml") < 8
    text = '<instance><domains><domain name="D">0..4000000</domain><domain name="E" nbValues="5000000"/></domains>'
    assert _peak(text + '<variables><variable name="x" domain="D"/></variables></instance>', "xml") < 8


def test_memory_of_a_shared_domain() -> None:
    """What is made of a domain is made once, not for each variable."""
    variables = "".join(f"  x{i}: {{domain: d0}}\n" for i in range(500))
    values = ", ".join(f"v{i}" for i in range(2000))
    assert _peak(_yaml(values) + "variables:\n" + variables, "yaml") < 20


def test_compact_labels() -> None:
    """Consecutive integers are a range, and nothing else is."""
    assert compact((3, 4, 5)) == range(3, 6)
    for labels in ((3, 5), (3.0, 4.0), (False, True), ("1", "2"), ()):
        assert compact(labels) == labels
    assert len({typed(compact(labels)) for labels in ((1, 2), (1.0, 2.0), ("1", "2"), (1, 2.0))}) == 4


def test_places_in_a_range() -> None:
    """Integers are found by their exact text only, as labels are."""
    index = Domain(range(-2, 3)).index
    assert [index[text] for text in ("-2", "0", "2")] == [0, 2, 4]
    for text in ("3", "-0", "02", "+1", "1.0", "٢", "", "9" * 5000):
        with pytest.raises(KeyError):
            index[text]
