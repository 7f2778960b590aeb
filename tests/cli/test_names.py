"""Names from files are shown as they are, whatever Rich would make of them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from dabp.cli.display import LiveDisplay
from dabp.cli.experiment import _progress_bar
from dabp.driver.stopping import Progress
from dabp.experiments.run import Progress as State
from dabp.plots.style import take_names_literally
from tests.cli.conftest import Run

NAMES = ("[/x]", "x[bold]", "x:cat:", "[link=y]", "\\[x]\\")
"""A closing tag that nothing opened, a style, an emoji, a link, and a backslash before and after."""


class Terminal(io.StringIO):
    """What would be on the screen."""

    def isatty(self) -> bool:
        return True


def _terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a wide terminal: in the test, since pytest sets it anew after the fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    return stream


def _file(folder: Path, name: str) -> Path:
    path = folder / "named.cfn"
    content = {
        "problem": {"name": f"p{name}", "mustbe": "<10"},
        "variables": {f"a{name}": [f"u{name}", f"v{name}"], "b": ["u", "v"]},
        "functions": {f"f{name}": {"scope": [f"a{name}", "b"], "costs": [1, 2, 3, 4]}},
    }
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_tables_show_names_as_they_are(run: Run, tmp_path: Path, name: str) -> None:
    """In the summary of one problem, the table of several and the table of an evaluation."""
    file, solution = _file(tmp_path, name), tmp_path / "s.json"
    values = json.loads(run("solve", file, "-s", "bp", "-i", 5, "-o", solution, "--json").out)
    problem, (variable, label) = values["problem"], next(iter(values["assignment"].items()))
    assert name.strip("\\") in problem
    summary = run("solve", file, "-s", "bp", "-i", 5)
    assert f"{problem} (2 variables" in summary.out
    assert f"{variable}={label}" in summary.out
    assert run("solve", file, file, "-s", "bp", "-i", 5).out.count(f" {problem} ") == 2
    evaluation = run("evaluate", file, solution)
    assert evaluation.code == 0
    assert f" f{problem[1:]} " in evaluation.out
    assert f"{variable}={label}, b=" in evaluation.out


@pytest.mark.parametrize("name", NAMES)
def test_the_live_line_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What members of a portfolio record is text, too."""
    terminal = _terminal(monkeypatch)
    with LiveDisplay(None, verbose=True) as display:
        display(Progress(records=[{"member": name, "move": name}]))
    assert terminal.getvalue().count(name) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_the_bar_of_an_experiment_shows_its_title_as_it_is(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A plan's title is whatever its author wrote; failures are counted beside it."""
    terminal = _terminal(monkeypatch)
    with _progress_bar(name) as show:
        assert show is not None
        show(State(total=3, done=2, failed=1))
    assert name in terminal.getvalue()
    assert "1 failed" in terminal.getvalue()


def test_pictures_take_dollar_signs_for_what_they_are(run: Run, tmp_path: Path) -> None:
    """In names of problems, variables and runs; as a formula this one has no end."""
    file, trace, picture = _file(tmp_path, "$x^$"), tmp_path / "t.jsonl", tmp_path / "p.svg"
    assert run("solve", file, "-s", "bp", "-i", 5, "--trace", trace).code == 0
    assert run("plot", "problem", file, "-o", picture) == (0, "", "")
    assert run("plot", "compare", f"$x^$={trace}", "-o", picture) == (0, "", "")


def test_figures_take_dollar_signs_for_what_they_are(tmp_path: Path) -> None:
    """In every place that a figure of an experiment has for names; powers of ten stay formulas."""
    figure = Figure()
    figure.suptitle("$x^$")
    bars, lines = figure.subplots(2)
    bars.set_title("$x^$")
    bars.set_yticks([0, 1], ["$x^$", "y"])
    lines.plot([1, 1000], [1, 2], label="$x^$")
    lines.set_xscale("log")
    figure.legend(*lines.get_legend_handles_labels())
    take_names_literally(figure)
    figure.savefig(tmp_path / "figure.png")
    assert [label.get_parse_math() for label in bars.get_yticklabels()] == [False, False]
    assert all(label.get_parse_math() for label in lines.get_xticklabels())
