"""Running the command line inside the test's process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dabp.cli import main


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``dabp ARGUMENTS`` and give back exit code, standard output and standard error."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["dabp", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return Outcome(int(stop.value.code or 0), *capsys.readouterr())

    return call


def params(**values: object) -> list[str]:
    """Values as options: ``--param name=value`` for each."""
    return [word for name, value in values.items() for word in ("--param", f"{name}={value}")]


@pytest.fixture
def problem_file(run: Run, tmp_path: Path) -> Path:
    """A small generated colouring problem."""
    path = tmp_path / "p.xml"
    outcome = run("generate", "graph-coloring", *params(variables=8, domain=3, density=0.4), "-o", path)
    assert outcome == (0, "", "")
    return path
