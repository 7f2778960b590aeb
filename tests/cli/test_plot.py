"""``dabp plot``: three kinds of pictures, and what is none."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest

import dabp
from dabp.driver.trace import Trace
from tests.cli.conftest import Run
from tests.cli.terminal import HARMFUL, named_file, named_problem

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
        assert run("plot", *words, "-o", picture) == (0, "", f"dabp: wrote {picture}\n")
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
    assert run("plot", "problem", file, "-o", picture).code == 0
    assert run("plot", "compare", f"$x^$={trace_file}", "-o", picture).code == 0
    assert dabp.read(file).name == "p$x^$"


@pytest.mark.parametrize("name", [*HARMFUL, "温度", "👩‍🚀"])
def test_any_name_can_be_drawn(
    run: Run, tmp_path: Path, trace_file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As XML that can be read: written out where it would harm, without a warning where a font ends."""
    picture = tmp_path / "p.svg"
    monkeypatch.setattr("dabp.cli.plot.read_problem", lambda *_: named_problem(name))
    for words in (["problem", "-"], ["compare", f"{name}={trace_file}"]):
        assert run("plot", *words, "-o", picture) == (0, "", f"dabp: wrote {picture}\n")
        ET.parse(picture)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "[1]",
        '{"type": "improvement"}',
        '{"type": "improvement", "time": 1, "iteration": 1e400, "value": 3}',
        '{"type": "improvement", "time": -1, "iteration": 1, "value": 3}',
        '{"type": "improvement", "time": 1, "iteration": 1, "value": "x"}',
        '{"type": "bound", "time": "x", "iteration": 1, "value": 1}',
        '{"type": "block", "time": 1, "costs": [[1]]}',
        '{"type": "block", "time": 1, "costs": 3}',
        '{"type": "block", "time": 1, "costs": [1], "count": "x"}',
        '{"type": "block", "time": 1, "costs": [1], "count": -5}',
        "[" * 100_000,
        "\x00",
    ],
)
def test_a_damaged_trace_is_one_line(run: Run, trace_file: Path, tmp_path: Path, line: str) -> None:
    """It names the file; no kind of damage is a traceback."""
    trace_file.write_text(trace_file.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    for words in (["trace", trace_file], ["compare", trace_file]):
        code, out, err = run("plot", *words, "-o", tmp_path / "x.png")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert str(trace_file) in err


def test_a_trace_of_extremes_is_drawn(run: Run, trace_file: Path, tmp_path: Path) -> None:
    """Costs that no axis can hold, and records of anything, are passed over."""
    more = [
        '{"type": "improvement", "time": 1, "iteration": 9, "value": 1e308}',
        '{"type": "bound", "time": 1, "iteration": 9, "value": "-inf"}',
        '{"type": "record", "restart": "a", "iteration": null}',
        '{"type": "record", "damping_min": 1}',
    ]
    trace_file.write_text(trace_file.read_text(encoding="utf-8") + "\n".join(more) + "\n", encoding="utf-8")
    for words in (["trace", trace_file], ["compare", trace_file]):
        assert run("plot", *words, "-o", tmp_path / "x.png").code == 0


def test_two_traces_of_one_name_are_two_curves(run: Run, trace_file: Path, tmp_path: Path) -> None:
    """Of different folders, or with signs in their names that elsewhere part a name from a file."""
    places = [tmp_path / "a" / "t.jsonl", tmp_path / "b" / "t.jsonl", tmp_path / "seed=1.jsonl"]
    for place in places:
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(trace_file.read_bytes())
    picture = tmp_path / "p.svg"
    assert run("plot", "compare", *places, "-o", picture).code == 0
    drawn = picture.read_text()
    for name in (str(places[0]), str(places[1]), "seed=1"):
        assert name in drawn
