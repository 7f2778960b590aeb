"""The plan is the one place of the numbers that decide who runs when."""

from __future__ import annotations

import ast
from pathlib import Path

import dabp.solvers.portfolio
from dabp.problem import Problem
from dabp.solvers.portfolio.kinds import kinds_for
from dabp.solvers.portfolio.plan import SHARES
from tests.solvers.portfolio.shapes import cliques


def test_no_other_module_of_the_portfolio_has_constants() -> None:
    """A number at the top of another module would be a second place to look for who runs when."""
    folder = Path(dabp.solvers.portfolio.__file__).parent
    for path in sorted(folder.glob("*.py")):
        if path.name == "plan.py":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                numbers = [
                    each.value
                    for each in ast.walk(node.value)
                    if isinstance(each, ast.Constant) and isinstance(each.value, int | float)
                ]
                assert not numbers, f"{path.name}:{node.lineno}"


def test_every_member_can_take_part() -> None:
    """Each name of the plan is a kind on some problem with some time, so that none is there in vain."""
    taking_part = {
        kind.name for problem in (cliques(1, 8, 3), Problem([2] * 1000)) for kind in kinds_for(problem, 100.0)
    }
    assert taking_part == set(SHARES)
