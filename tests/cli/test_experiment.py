"""``dabp experiment`` from the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from dabp.cli.experiment import _progress_bar, app
from dabp.experiments.run import Progress as State
from tests.cli.terminal import NAMES, terminal

runner = CliRunner()


def call(*arguments):
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_commands_read_a_folder_and_a_packed_file(results, tmp_path):
    """table, plot, report and compare do the same from both."""
    call("pack", results.path, "-o", tmp_path / "all.jsonl.xz")
    packed = tmp_path / "all.jsonl.xz"
    assert call("table", results.path) == call("table", packed, "--plan", "small")
    call("table", packed, "-f", "latex", "-o", tmp_path / "table.tex")
    assert "\\toprule" in (tmp_path / "table.tex").read_text()
    call("plot", packed, "--figure", "memory", "-o", tmp_path / "memory.png")
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")
    assert "cost-iterations" in call("plot", packed, "--figure", "list")
    call("report", packed, "-o", tmp_path / "report.html")
    assert "Wilcoxon" in call("compare", packed, "short", "long (steps=10)")


def test_run_tells_what_it_did(tmp_path):
    """Counts, and the last failure's reason; nothing drawn where there is no terminal."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[[instances]]\nfamily = "random-cop"\nparameters = { variables = 5, domain = 2 }\n'
        '[[solvers]]\nsolver = "nothing:Here"\n'
    )
    output = call("run", plan, "-o", tmp_path / "out")
    assert "1 run, 0 already there, 1 failed, of 1" in output
    assert "cannot be imported" in output


@pytest.mark.parametrize("name", NAMES)
def test_the_bar_of_an_experiment_shows_its_title_as_it_is(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A plan's title is whatever its author wrote; failures are counted beside it."""
    screen = terminal(monkeypatch)
    with _progress_bar(name) as show:
        assert show is not None
        show(State(total=3, done=2, failed=1))
    assert name in screen.getvalue()
    assert "1 failed" in screen.getvalue()
