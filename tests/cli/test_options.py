"""Options that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import dabp
from dabp.cli.options import check_fixed, pairs, read_problem, reading_bar
from dabp.errors import ParameterError, ProblemError
from dabp.formats import large
from dabp.problem import Problem
from tests.cli.terminal import NAMES, terminal


def test_pairs_are_names_and_values() -> None:
    """Only the first equals sign divides; spaces around it do not count."""
    assert pairs(["a=1", " b = x=y "], "--fix") == {"a": "1", "b": "x=y"}
    for text in ("a", "=1", ""):
        with pytest.raises(ParameterError, match="--fix takes name=value"):
            pairs([text], "--fix")
    with pytest.raises(ParameterError, match="--fix a is given twice, as '1' and as '2'"):
        pairs(["a=1", "a=1", "a=2"], "--fix")


def test_a_variable_that_is_not_there_has_a_nearest_name() -> None:
    """Or a way to see the names, when none is near; values are those of the variable."""
    problem = Problem([2, 2], variable_names=["left", "right"], name="p")
    check_fixed(problem, {"left": 1, "right": "0"})
    for name, words in (("lift", "did you mean 'left'"), ("zzz", "dabp convert")):
        with pytest.raises(ParameterError, match=words):
            check_fixed(problem, {name: 0})
    with pytest.raises(ProblemError, match="it takes 0, 1"):
        check_fixed(problem, {"left": 2})


@pytest.mark.parametrize("name", ["plain", *NAMES[:1], "\x1b[2Jx"])
def test_a_large_file_is_read_with_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In a terminal, with the file's name as it is safe to show; the answer is the same."""
    monkeypatch.setattr(large, "LARGE", 1)
    folder = tmp_path / name.replace("/", "-")
    folder.mkdir()
    path = folder / "x.wcsp"
    problem = dabp.generate("random-cop", variables=20, domain=3, density=0.5, seed=0)
    dabp.write(problem, path)
    screen = terminal(monkeypatch)
    assert read_problem(str(path), None, None, None).num_factors == problem.num_factors
    assert "reading" in screen.getvalue()
    assert "\x1b[2Jx" not in screen.getvalue()


def test_no_terminal_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pipes and files get nothing of it, and a program without standard error reads all the same."""
    for stream in (sys.stderr, None):
        monkeypatch.setattr(sys, "stderr", stream)
        with reading_bar("x") as show:
            assert show is None
