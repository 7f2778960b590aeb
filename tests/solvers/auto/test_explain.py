"""The notes say who found the answer, who improved it, whose bound it is and where the time went."""

from __future__ import annotations

import numpy as np

from dabp.solvers import make_solver
from dabp.solvers.auto.explain import explain
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.member import Kind, Member, Run
from tests.problems import exhaustive
from tests.solvers.auto.shapes import cliques


def test_notes_tell_what_happened() -> None:
    """Each line says what it is about, and a line is there only if there is something to tell."""
    problem = cliques(1, 5, 3)
    optimum, best = exhaustive(problem)
    incumbent = Incumbent(problem)
    member = Member(Kind("tabu", lambda situation: Run(make_solver("tabu"))), problem, 0, 0)
    assert list(explain(incumbent, [member], [], None)) == []
    incumbent.offer(np.zeros(5, dtype=np.int64), "dual", 0.5)
    incumbent.offer(best, "tabu", 1.25)
    incumbent.raise_bound(optimum - 1.0, "dual")
    member.seconds = 3.14
    lines = list(explain(incumbent, [member], ["dabp gave up: why"], None))
    assert lines == [
        "tabu found the answer after 1.25 s",
        "improvements: dual 1, tabu 1",
        "dual gave the bound",
        "time: tabu 3.1 s",
        "dabp gave up: why",
    ]
    incumbent.raise_bound(optimum, "dual")
    assert "dual proved it" in list(explain(incumbent, [member], [], None))
