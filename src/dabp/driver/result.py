"""The result of a solve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.arguments import as_count
from dabp.driver.summary import card_of, text_of
from dabp.driver.trace import Trace
from dabp.errors import ProblemError
from dabp.problem import Assignment, Problem
from dabp.problem.frames import frame
from dabp.problem.views import FactorCost, Label
from dabp.solvers.status import OWN_LIMIT, RESTARTS_DONE, Status

_LIMITS = {
    "time limit": "the time limit was reached",
    "iteration limit": "the iteration limit was reached",
    "memory limit": "the memory limit was reached",
    "target cost": "the target cost was reached",
    "no improvement": "no improvement in the allowed number of iterations",
    RESTARTS_DONE: "the solver has made its restarts (its parameter restarts)",
    OWN_LIMIT: "the solver has made its own number of iterations (a parameter of it)",
}
"""Word of `Result.limit` → the sentence that is shown."""


def relative_gap(cost: float | None, bound: float | None) -> float | None:
    """|cost − bound| / max(|cost|, |bound|), 0 if they are equal, however small; None if either is unknown."""
    if cost is None or bound is None:
        return None
    if cost == bound:
        return 0.0
    size = max(abs(cost), abs(bound))
    return abs(cost / size - bound / size)


@dataclass(frozen=True, repr=False)
class Result:
    """The answer of `dabp.solve`.

    `cost` is recomputed from the problem's own tables; `bound` lies in the direction of the objective
    (below the cost when minimising, above when maximising). What is unknown is None.
    """

    assignment: Assignment | None
    """The best assignment as value indices, [N]; None if none without a forbidden combination was found."""
    cost: float | None
    """The cost of the assignment."""
    status: Status
    """Why the solve ended; `sentence` says it in words."""
    bound: float | None
    """The proved bound: no assignment is better."""
    iterations: int
    """Number of iterations; the solver's page says what an iteration is."""
    runtime: float
    """Seconds, including those before a resume."""
    seed: int
    """Seed of all randomness."""
    solver: str
    """The solver's name."""
    values: dict[str, Label] | None = None
    """The best assignment: label by variable name (or key)."""
    trace: Trace = field(default_factory=Trace, repr=False)
    """The history of cost and bound."""
    notes: tuple[str, ...] = ()
    """Sentences about the solve: what presolve removed, which member of `auto` found the answer, what proved it."""
    limit: str | None = None
    """What ended the solve if its status is LIMIT, else None: "time limit", "iteration limit", "memory limit",
    "target cost", "no improvement", or of the solver's own "restarts done" or "own iterations done"."""
    problem: Problem | None = field(default=None, compare=False)
    """The solved problem; None in an unpickled result, since pickles leave it out."""

    violated: tuple[str, ...] | None = None
    """Names of the hard constraints that the assignment of a relaxed solve violates; None for other solves."""

    messages: int | None = None
    """Messages that a distributed run would have sent (BP, DSA, MGM, MGM-2, GDBA), None for other solvers."""
    message_size: int | None = None
    """Number of numbers in these messages."""

    beliefs: tuple[NDArray[np.float64], ...] | None = None
    """For each variable the probability of each of its values, from belief propagation at a temperature; else None."""

    @property
    def gap(self) -> float | None:
        """Relative distance between cost and bound; 0 when proved optimal."""
        return relative_gap(self.cost, self.bound)

    @property
    def sentence(self) -> str:
        """Why the solve ended, in words."""
        return self.status.sentence if self.limit is None else _LIMITS.get(self.limit, self.limit)

    @property
    def feasible(self) -> bool:
        """Whether an assignment without a forbidden combination was found."""
        return self.cost is not None and not self.violated

    def to_dict(self, problem: Problem) -> dict[str, Any]:
        """The result as JSON values, as in ``--json`` and solution files; None for what is unknown."""
        known = self.cost is not None and problem.facts.num_constraints > 0
        return {
            "problem": problem.name,
            "solver": self.solver,
            "status": self.status.value,
            "limit": self.limit,
            "cost": self.cost,
            "normalized_cost": (self.cost or 0.0) / problem.facts.num_constraints if known else None,
            "bound": self.bound,
            "gap": self.gap,
            "assignment": None if self.assignment is None else problem.names.named(self.assignment),
            "iterations": self.iterations,
            "runtime": self.runtime,
            "seed": self.seed,
            "messages": self.messages,
            "message_size": self.message_size,
            "notes": list(self.notes),
            **({} if self.violated is None else {"violated": list(self.violated)}),
            **({} if self.beliefs is None else {"beliefs": self._named_beliefs(problem)}),
        }

    def _named_beliefs(self, problem: Problem) -> dict[str, list[float]]:
        names = [problem.names.variable(i) for i in range(len(self.beliefs or ()))]
        return {name: each.tolist() for name, each in zip(names, self.beliefs or (), strict=True)}

    def explain(self, limit: int | None = None) -> list[FactorCost]:
        """Factors with their costs in this answer, violated ones first, then by falling cost."""
        if self.problem is None:
            raise ProblemError("this result came without its problem: problem.explain(result.assignment) says the same")
        if self.assignment is None:
            raise ProblemError("there is no assignment to explain")
        return self.problem.explain(self.assignment, as_count("limit", limit))

    def to_frame(self) -> Any:
        """The assignment as a pandas frame, a row per variable: ``variable`` and ``value``."""
        values = self.values or {}
        return frame({"variable": list(values), "value": list(values.values())})

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return card_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the problem out: workers of a cluster send results to a host that has it."""
        return {key: value for key, value in self.__dict__.items() if key != "problem"}
