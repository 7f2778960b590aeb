"""``dabp plot``: three kinds of pictures, and what is none."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import dabp
from dabp.driver.trace import Trace
from tests.cli.conftest import Run
from tests.cli.terminal import named_file

mpl.use("agg")


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """Three iterations, two improvements and a bound."""
    trace = Trace()
    trace.add_block(0.1, np.array([3.0, np.inf, 2.0]))
    trace.improvements += [(0.05, 1, 3.0), (0.1, 3, 2.0)]
    trace.bounds.append((0.1, 3, 1.0))
    trace.save(tmp_path / "t.jsonl")
    return tmp_path / "t.jsonl"


def test_each_kind_is_written_as_a_picture(run: Run, problem_file: Path, trace_file: Path, tmp_path: Path) -> None:
    """A problem, a trace, and traces together under names of one's own."""
    for words in (["problem", problem_file], ["trace", trace_file], ["compare", f"one={trace_file}", trace_file]):
        picture = tmp_path / f"{words[0]}.png"
        assert run("plot", *words, "-o", picture) == (0, "", "")
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_what_is_no_trace_or_no_picture_is_one_line(run: Run, problem_file: Path, trace_file: Path) -> None:
    """A problem is no trace, and Word draws no pictures; the file is named."""
    for words, name in (
        (["trace", problem_file, "-o", "x.png"], problem_file),
        (["trace", "nowhere.jsonl"], "nowhere.jsonl"),
        (["problem", problem_file, "-o", problem_file.parent / "x.doc"], "x.doc"),
    ):
        code, out, err = run("plot", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert str(name) in err


def test_pictures_take_dollar_signs_for_what_they_are(run: Run, tmp_path: Path, trace_file: Path) -> None:
    """In names of problems, variables and runs; as a formula this one has no end."""
    file, picture = named_file(tmp_path, "$x^$"), tmp_path / "p.svg"
    assert run("plot", "problem", file, "-o", picture) == (0, "", "")
    assert run("plot", "compare", f"$x^$={trace_file}", "-o", picture) == (0, "", "")
    assert dabp.read(file).name == "p$x^$"
