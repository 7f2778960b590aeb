"""Options that several commands share."""

from __future__ import annotations

import os
import sys

import psutil
import pytest

from dabp.cli.options import available_cores, check_fixed, pairs
from dabp.errors import ParameterError, ProblemError
from dabp.problem import Problem


def test_pairs_are_names_and_values() -> None:
    """Only the first equals sign divides; spaces around it do not count."""
    assert pairs(["a=1", " b = x=y "], "--fix") == {"a": "1", "b": "x=y"}
    for text in ("a", "=1", ""):
        with pytest.raises(ParameterError, match="--fix takes name=value"):
            pairs([text], "--fix")
    with pytest.raises(ParameterError, match="--fix a is given twice, as '1' and as '2'"):
        pairs(["a=1", "a=1", "a=2"], "--fix")


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's share, not the machine; where the system cannot tell, the machine."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda _: [2, 3], raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for platform, cores in (("linux", 1), ("win32", 2), ("darwin", 8)):
        monkeypatch.setattr(sys, "platform", platform)
        assert available_cores() == cores


def test_a_variable_that_is_not_there_has_a_nearest_name() -> None:
    """Or a way to see the names, when none is near; values are those of the variable."""
    problem = Problem([2, 2], variable_names=["left", "right"], name="p")
    check_fixed(problem, {"left": 1, "right": "0"})
    for name, words in (("lift", "did you mean 'left'"), ("zzz", "dabp convert")):
        with pytest.raises(ParameterError, match=words):
            check_fixed(problem, {name: 0})
    with pytest.raises(ProblemError, match="it takes 0, 1"):
        check_fixed(problem, {"left": 2})
