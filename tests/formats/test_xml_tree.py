"""XML with lines, of limited depth."""

from __future__ import annotations

import pytest

from dabp.errors import FormatError
from dabp.formats.text import Source
from dabp.formats.xml_tree import parse


def test_lines() -> None:
    """Each element knows where it starts."""
    root = parse(Source("f", b"<a>\n<b/>\n\n<c><d/></c></a>"))
    assert {node.tag: node.line for node in root.iter()} == {"a": 1, "b": 2, "c": 4, "d": 4}  # type: ignore[attr-defined]


def test_limits() -> None:
    """Depth and number of elements are bounded."""
    assert parse(Source("f", b"<a>" * 50 + b"</a>" * 50)).tag == "a"
    with pytest.raises(FormatError, match="nested more than 50 deep"):
        parse(Source("f", b"<a>" * 51 + b"</a>" * 51))
    source = Source("f", b"<a>" + b"<b/>" * 9 + b"</a>")
    source.meter.take_tokens(2**20 - 9)
    with pytest.raises(FormatError, match="entries or more"):
        parse(source)
