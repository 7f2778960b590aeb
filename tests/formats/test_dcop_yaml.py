"""pyDCOP's problems, by expression and by table."""

from __future__ import annotations

import io
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
        assert problem.cost(problem.names.assignment(values)) == pytest.approx(expected)


def test_code_from_another_file_is_refused(shared_instances: Path) -> None:
    """A pyDCOP file that would run a Python file beside it is refused where it says so."""
    with pytest.raises(FormatError, match="would run code from another file") as caught:
        read(shared_instances / "graph_coloring1_func.yaml")
    assert caught.value.line == 30


@pytest.mark.parametrize(
    ("text", "cost"), [("99999999999999", 1e14 - 1), ("-1", -1), ("1e3", 1000), (".inf", float("inf"))]
)
def test_default_costs(text: str, cost: float) -> None:
    """In the default and among the values every form of a number is a cost."""
    domain = "domains: {d: {values: [1, 2]}}\nvariables: {x: {domain: d}}\nconstraints: {c: {type: extensional, "
    problem = read(io.StringIO(domain + f"variables: x, default: {text}, values: {{{text}: 1}}}}}}"), "yaml")
    assert problem.pool.tolist() == [cost, cost]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("9" * 20, "costs are so large that their sums are not exact"), ("9" * 400, ":3: number '9{40}' cannot be read")],
)
def test_integers_beyond_64_bits_are_refused(text: str, reason: str) -> None:
    """One sentence, no traceback."""
    domain = "domains: {d: {values: [1, 2]}}\nvariables: {x: {domain: d}}\nconstraints: {c: {type: extensional, "
    with pytest.raises(FormatError, match=reason):
        read(io.StringIO(domain + f"variables: x, default: {text}, values: {{}}}}}}"), "yaml")
