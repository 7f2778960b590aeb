"""Members that share an incumbent: the loop that `auto` is, whether seconds or iterations are the limit."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np

from dabp.errors import DabpError
from dabp.problem import Assignment, Problem
from dabp.solvers.auto.incumbent import LEAST, Incumbent
from dabp.solvers.auto.line_up import LineUp
from dabp.solvers.auto.running_member import Report, Slices
from dabp.solvers.base import Budget, Search
from dabp.solvers.registry import entry


class Portfolio(Search):
    """Chooses a member, runs a slice of it, takes what it found, rewards it: `work` is one turn of this loop.

    Parameters
    ----------
    problem, seed, budget
        As for any solver.
    incumbent
        What the members share.
    horizon
        Seconds that the members plan for; inf where iterations are the limit.
    """

    def __init__(self, problem: Problem, seed: int, budget: Budget, incumbent: Incumbent, horizon: float):
        self.problem, self.seed, self.budget, self.horizon = problem, seed, budget, horizon
        self.incumbent = incumbent
        self.members: list[Slices] = []
        self.notes: list[str] = []

    # ---- the loop ------------------------------------------------------------------------------

    def work(self, thread: int = 0) -> Report | None:
        """One turn; None if no member has anything to do."""
        member = self.choose(thread)
        if member is None:
            return None
        try:
            report = self.slice(member, thread)
        except Exception as error:  # the others go on
            member.exhausted = True
            report = Report(member.name, error=error)
        self.reward(member, report)
        return report

    @abstractmethod
    def choose(self, thread: int) -> Slices | None:
        """The member that runs next."""

    @abstractmethod
    def slice(self, member: Slices, thread: int) -> Report:
        """Run a slice of a member, and take what it found."""

    @abstractmethod
    def reward(self, member: Slices, report: Report) -> None:
        """Learn from a slice."""

    # ---- what both kinds of limit share --------------------------------------------------------

    def join(self, line: LineUp) -> list[Slices]:
        """Let the members of a line-up take part; their modules are imported here, before there are threads."""
        for place in line.places:
            entry(place.member.solver).load()
        joined = [
            Slices(
                place,
                self.problem,
                line.features,
                self.seed,
                number,
                horizon=self.horizon,
                guard=self.budget.guard,
            )
            for number, place in enumerate(line.places, start=len(self.members))
        ]
        self.notes += line.notes
        self.members += joined
        return joined

    def tell_failure(self, report: Report) -> None:
        """Note that a member failed, with a warning if it is a bug."""
        error = report.error
        if error is None:
            return
        what = str(error)
        if not isinstance(error, DabpError | MemoryError):
            what = f"{type(error).__name__}: {what}"
            warnings.warn(f"auto's member {report.member} failed ({what}); the others go on", stacklevel=2)
        self.notes.append(f"{report.member} gave up: {what}")

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Share an assignment with all members."""
        self.incumbent.offer(assignment, "outside", 0.0)

    def summary(self) -> tuple[str, ...]:
        """Which member found the answer and when, which improved it and gave the bound, where the time went."""
        lines, incumbent = [], self.incumbent
        if incumbent.finds:
            last = incumbent.finds[-1]
            lines.append(f"{last.member} found the answer{f' after {last.time:.2f} s' if last.time else ''}")
            counts: dict[str, int] = {}
            for find in incumbent.finds:
                counts[find.member] = counts.get(find.member, 0) + 1
            if len(counts) > 1:
                lines.append("improvements: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
        if incumbent.bound_by and (incumbent.proved or incumbent.bound_by != LEAST):
            lines.append(f"{incumbent.bound_by} {'proved it' if incumbent.proved else 'gave the bound'}")
        spent: dict[str, float] = {}
        for member in self.members:
            spent[member.name] = spent.get(member.name, 0.0) + member.seconds
        order = sorted(((seconds, name) for name, seconds in spent.items() if seconds >= 0.05), reverse=True)
        if order:
            lines.append("time: " + ", ".join(f"{name} {seconds:.1f} s" for seconds, name in order))
        return (*lines, *self.notes)

    def close(self) -> None:
        """End the runs of all members."""
        for member in self.members:
            member.close()


def record_of(member: str, cost: float, **more: float) -> dict[str, object]:
    """The trace's record of a slice or of a turn."""
    return {"member": member, **more, **({"cost": cost} if np.isfinite(cost) else {})}
