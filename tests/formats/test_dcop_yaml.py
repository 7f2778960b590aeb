"""pyDCOP's problems, by expression and by table."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from dabp.errors import FormatError
from dabp.formats import read

_DATA = Path(__file__).parents[1] / "data" / "good"


def test_every_kind_of_constraint() -> None:
    """Expressions, function bodies, tables, cost functions and external variables add up as Python adds them."""
    problem = read(_DATA / "small.yaml")
    for v1, v2, light, s in itertools.product("RG", "RG", range(4), (True, False)):
        expected = (-0.1 if v1 == "R" else 0.1) + 0.5 + 0.7 * light + (v1 == v2)
        expected += 10 * abs(light + 2 - 3) + (5 if s else 0)
        expected += 3 if light > 2 and v1 == "R" else light / 2
        expected += {("R", 0): 1, ("R", 1): 1, ("G", 3): 2.5}.get((v1, light), 4) + (-1 if v2 == "R" else 1)
        values = {"v1": v1, "v2": v2, "l": light, "s": str(s)}
        assert problem.cost(problem.assignment(values)) == pytest.approx(expected)


def test_code_from_another_file_is_refused(shared_instances: Path) -> None:
    """A pyDCOP file that would run a Python file beside it is refused where it says so."""
    with pytest.raises(FormatError, match="would run code from another file") as caught:
        read(shared_instances / "graph_coloring1_func.yaml")
    assert caught.value.line == 30
