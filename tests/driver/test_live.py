"""The live line: what it says, and where it says nothing."""

from __future__ import annotations

import math

import pytest

from dabp.compiling import compiling
from dabp.driver.live import LiveLine, line_of
from dabp.driver.solve import solve
from dabp.driver.stopping import Progress
from dabp.lab.generators import generate
from dabp.problem.shown import shown
from tests.cli.terminal import HARMFUL, NAMES, terminal
from tests.sampling import Sampling


def test_it_tells_cost_bound_gap_and_time_left() -> None:
    """What is unknown is left away, or a dash."""
    whole = Progress(time=2.0, iterations=7, cost=10.0, bound=8.0, time_left=3.4)
    assert line_of(whole) == "searching  cost 10  bound 8  gap 20.00%  iteration 7  3 s left"
    assert line_of(Progress(time=2.0, time_left=math.inf)) == "searching  cost –  iteration 0  2 s"


def test_python_shows_it_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """`display=True` on a terminal: the same line as the command line's, gone at the end."""
    screen = terminal(monkeypatch)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    result = solve(problem, Sampling(bound=1.0), time_limit=60, max_iterations=20_000, display=True)
    assert "preparing" in screen.getvalue()
    assert "searching  cost" in screen.getvalue()
    assert "gap " in screen.getvalue()
    silent = terminal(monkeypatch)
    assert solve(problem, Sampling(bound=1.0), max_iterations=result.iterations).cost == result.cost
    assert silent.getvalue() == ""


@pytest.mark.parametrize("name", [*NAMES, *HARMFUL])
def test_the_live_line_shows_names_and_obeys_none(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Members are text without markup, with rounded seconds; only Rich's own escapes reach the terminal."""
    screen = terminal(monkeypatch)
    with LiveLine(verbose=True) as line:
        line(Progress(records=[{"member": name, "move": name, "seconds": 0.16907957}]))
    assert screen.getvalue().count(shown(name)) >= 2
    assert shown(name) == name or name not in screen.getvalue()
    assert "  0.2 s" in screen.getvalue()


def test_nothing_is_drawn_without_a_terminal_or_unshown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pipes get no live line, nor does a terminal that is not to show one."""
    with LiveLine() as line:
        line(Progress(records=[]))
    assert capsys.readouterr() == ("", "")
    screen = terminal(monkeypatch)
    with LiveLine(shown=False) as line:
        line(Progress(records=[]))
    assert screen.getvalue() == ""


@pytest.mark.parametrize(("shown_", "lines"), [(True, 1), (False, 0)])
def test_compiling_is_said_once_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], shown_: bool, lines: int
) -> None:
    """In a pipe a user would wonder why nothing happens; a quiet solve stays quiet."""
    with LiveLine(shown=shown_):
        for _ in range(2):
            compiling.begin()
            compiling.end()
    assert capsys.readouterr().err.count("compiling kernels") == lines
    assert compiling.notice is None
