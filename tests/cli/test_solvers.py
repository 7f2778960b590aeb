"""``dabp solvers``: the list, and a page for each."""

from __future__ import annotations

import pytest

from dabp.solvers import SOLVERS, parameters
from tests.cli.conftest import Run


def test_the_list_names_every_solver(run: Run) -> None:
    """A line each."""
    lines = run("solvers").out.splitlines()
    assert lines[3].split()[1] == "auto"  # the default is the first
    assert set(SOLVERS) <= {word for line in lines for word in line.split()[:2]}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_page_shows_every_parameter(run: Run, name: str) -> None:
    """With the preset's own defaults."""
    code, out, _ = run("solvers", name)
    assert code == 0
    for parameter in parameters(name):
        assert parameter in out


def test_a_preset_shows_its_own_defaults(run: Run) -> None:
    """Splitting is DBP-SCFG's, not BP's."""
    assert "0.95" in run("solvers", "dbp-scfg").out
