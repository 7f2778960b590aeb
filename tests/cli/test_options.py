"""Options that several commands share."""

from __future__ import annotations

import os

import pytest

from dabp.cli.options import available_cores, pairs
from dabp.errors import ParameterError


def test_pairs_are_names_and_values() -> None:
    """Only the first equals sign divides; spaces around it do not count."""
    assert pairs(["a=1", " b = x=y "], "--fix") == {"a": "1", "b": "x=y"}
    for text in ("a", "=1", ""):
        with pytest.raises(ParameterError, match="--fix takes name=value"):
            pairs([text], "--fix")


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's share, not the machine; where the system cannot tell, the machine."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert available_cores() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores() == os.cpu_count()
