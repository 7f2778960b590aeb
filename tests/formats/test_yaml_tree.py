"""YAML scalars and what stays behind of them."""

from __future__ import annotations

import gc

import yaml

from dabp.formats.text import Source
from dabp.formats.yaml_tree import parse, scalar

_SOURCE = Source("f.yaml", b"[12, 0x1F, -1_000, 1.5, .inf, yes, off, word, '7', 1e3]", 2**24)


def test_values() -> None:
    """Numbers and truth values as YAML 1.1 has them, text otherwise."""
    entries = parse(_SOURCE).entries or []
    values = [12, 31, -1000, 1.5, float("inf"), True, False, "word", "7", "1e3"]
    assert [scalar(_SOURCE, entry) for entry in entries] == values


def test_nothing_is_kept() -> None:
    """A process that reads many files does not remember every number of them."""

    def kept() -> int:
        gc.collect()
        return sum(type(one) is yaml.ScalarNode for one in gc.get_objects())

    before = kept()
    for _ in range(50):
        for entry in parse(_SOURCE).entries or []:
            scalar(_SOURCE, entry)
    assert kept() <= before
