"""Several answers to one problem: the best, the best that differs from it, and so on.

An elimination whose messages fit into memory enumerates them (`best_answers`). Otherwise each is the answer of a solve
that excludes the earlier ones and starts from the best assignment known that it does not exclude.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.arguments import as_callbacks, as_count, checked_problem, chosen_solver
from dabp.driver.first_answers import FirstAnswers
from dabp.driver.interruption import Interruption
from dabp.driver.peers import Known
from dabp.driver.preparation import Preparation
from dabp.driver.relaxing import Relaxing
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.solve import KEYWORDS, solve_among
from dabp.driver.stopping import LIMIT_OPTIONS, Ended, Limits, Progress
from dabp.errors import ParameterError, refuse_unknown
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices
from dabp.problem.differences import differing
from dabp.problem.frames import frame
from dabp.problem.guard import TIME, Guard
from dabp.problem.model import Model
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status

ENUMERATION_SHARE = 0.05
"""Share of the time that enumeration may take where its bounds are not exact, or answers keep a distance."""

POOL = 1000
"""Assignments that are kept as starts of later solves."""

NEIGHBOUR_CELLS = 20_000_000
"""Values of all assignments that differ from an answer in one variable; more of them are not computed."""


class Answers(list[Result]):
    """Several answers to one problem, best first, and whether they are proved to be the best."""

    @property
    def proved(self) -> bool:
        """Whether each is proved to be the best that keeps the distance from those before it, and none is missing."""
        return bool(self) and all(each.status in (Status.OPTIMAL, Status.INFEASIBLE) for each in self)

    def to_frame(self) -> Any:
        """A pandas frame with a row per answer: ``cost``, ``status`` and the value of each variable."""
        found = [each for each in self if each.values is not None]
        columns: dict[str, list[Any]] = {
            "cost": [each.cost for each in found],
            "status": [each.status.value for each in found],
        }
        for name in found[0].values or {} if found else {}:
            columns[name] = [(each.values or {})[name] for each in found]
        return frame(columns)

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self)


def solve_several(
    problem: Problem | Model,
    solutions: int,
    *,
    distance: int = 1,
    among: Collection[Hashable] | None = None,
    solver: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> Answers:
    """The best answers to a problem that differ from one another, best first as far as they are proved.

    The second answer is the best one that differs from the first, the third the best one that differs from both, and
    so on. A result with status OPTIMAL is proved to be that. The list is shorter than `solutions` where no further
    answer exists, which the last result then proves with status INFEASIBLE and without an assignment, or where the
    time did not suffice to find one. `proved` of the list says whether all of it is proved.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`. A checkpoint is a file name, to which the number of the answer is added. Answers that are
        enumerated by elimination need none; `auto` and `mbe` do so where no limit but time and memory is given.
    solutions
        How many answers are wanted.
    distance
        In how many variables every two answers differ at least. Auxiliary variables of a model do not count.
    among
        Names of the variables that count; by default all.
    time_limit
        Seconds for all answers together; time that an answer does not need is left to the next ones. The default is
        that of `dabp.solve`. The other limits apply to each answer.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> [(result.cost, result.values) for result in solve_several(model, 3)]
    [(0.0, {'x': 0, 'y': 0}), (1.0, {'x': 1, 'y': 1}), (2.0, {'x': 0, 'y': 2})]
    """
    clock = Clock()
    refuse_unknown("solve_several", options, ("distance", "among", "solver", *KEYWORDS))
    given = checked_problem(problem)
    relaxing = Relaxing(given, options.pop("relax", False) or False)
    problem = relaxing.problem
    wanted, apart, counted = _checked(problem, solutions, distance, among)
    limits, note = Limits.of({"time_limit": time_limit, **options}).for_solver(
        *chosen_solver(solver, options.get("params"))
    )
    options = {name: value for name, value in options.items() if name not in ("limits", *LIMIT_OPTIONS.values())}
    with Interruption() as interruption:
        several = _Several(problem, wanted, apart, counted, limits, clock)
        guard = limits.guard(interruption, clock)
        if solver in ("auto", "mbe") and limits == dataclasses.replace(
            Limits(), time=limits.time, memory=limits.memory
        ):
            several.enumerate(options, guard, str(solver))
        several.solve(solver, options, interruption)
    return Answers(relaxing.translated(_noted(each, note)) for each in several.sorted())


class _Earlier:
    """What is known of an answer before its solve: more is excluded than for the one before, whose bound holds."""

    ended = False

    def __init__(self, bound: float | None):
        self._new = [] if bound is None else [Known(bound=bound)]

    def exchange(self, progress: Progress) -> list[Known]:
        """What was not handed over yet: the bound at the first call, nothing afterwards."""
        new, self._new = self._new, []
        return new


class _Several:
    """The answers found so far, and assignments from which later solves start."""

    def __init__(self, problem: Problem, wanted: int, apart: int, counted: Indices, limits: Limits, clock: Clock):
        self.problem, self.wanted, self.apart, self.counted = problem, wanted, apart, counted
        self.limits, self.clock = limits, clock
        self.found: list[Result] = []
        self.ended = False
        self._pool: dict[bytes, tuple[float, Assignment]] = {}
        self._sign = -1.0 if problem.maximize else 1.0

    @property
    def _seconds_left(self) -> float:
        return math.inf if self.limits.time is None else max(self.limits.time - self.clock.now, 0.0)

    @property
    def _assignments(self) -> list[Assignment]:
        return [each.assignment for each in self.found if each.assignment is not None]

    def _differs(self, assignment: Assignment, answers: Sequence[Assignment]) -> bool:
        differences = (np.count_nonzero(assignment[self.counted] != answer[self.counted]) for answer in answers)
        return all(number >= self.apart for number in differences)

    def enumerate(self, options: Mapping[str, Any], guard: Guard, name: str) -> None:
        """Answers in the order of their costs, by elimination."""
        from dabp.solvers.elimination.best_answers import BestAnswers  # loads compiled kernels

        fixed = FirstAnswers(options.get("fix"), None).fixed(self.problem)
        prepared = Preparation(self.problem, fixed, False, guard, units=True)
        answers = BestAnswers(prepared.reduced, guard)
        if not answers.planned() or self.apart > 1:  # near answers may be many that do not keep the distance
            answers.guard = guard.within(ENUMERATION_SHARE * min(guard.seconds_left, 1e6))
        callbacks = as_callbacks(options.get("callbacks", ()))
        seen = self._assignments
        for reduced in answers:
            assignment = prepared.lift(reduced)
            cost = float(self.problem.cost(self.problem.auxiliaries.visible(assignment)))
            if not self._differs(assignment, seen):
                continue
            run = RunningSolve(self.problem, name, options.get("seed", 0), self.clock)
            run.offer(self.problem.auxiliaries.completed(assignment), cost)
            if run.progress.cost is None:  # not better than the problem's limit, nor is what follows
                answers.exhausted = True
                break
            run.tighten(self._sign * cost)
            run.progress.iterations, run.progress.time = answers.completions, self.clock.now
            run.notes.append(f"answers enumerated by elimination, {answers.completions:,} completions")
            self.found.append(run.result(Ended(Status.OPTIMAL)))
            seen.append(assignment)
            stopped = [callback(run.shown()) for callback in callbacks]
            self.ended = any(stopped) or len(self.found) == self.wanted
            if self.ended:
                return
        if answers.exhausted:
            run = RunningSolve(self.problem, name, options.get("seed", 0), self.clock)
            self.found.append(run.result(Ended(Status.INFEASIBLE)))
            self.ended = True

    def solve(self, solver: Any, options: Mapping[str, Any], interruption: Interruption) -> None:
        """The answers that are missing, each by a solve that excludes the earlier ones.

        The first takes up to half of the time, for later solves start near it; the others share what is left.
        """
        failures = 0
        while not self.ended and len(self.found) < self.wanted:
            if self.found and interruption.requested:
                return
            left, earlier = self._seconds_left, self._assignments
            if self.found and left == 0.0:
                return
            restricted = differing(self.problem, earlier, self.apart, self.counted) if earlier else self.problem
            parts = self.wanted - len(self.found) if self.found else min(self.wanted, 2)
            share = left / max(1, parts >> failures)
            limits = dataclasses.replace(self.limits, time=share)
            given = {**self._options(options, len(self.found)), "limits": limits}
            result = solve_among(_Earlier(self.found[-1].bound if self.found else None), restricted, solver, given)
            if result.assignment is None and result.limit == TIME and share < left:
                failures += 1  # none was found in this part of the time: once more with a larger one
                continue
            self.found.append(self._of(result))
            self.ended = result.assignment is None or result.status is Status.INTERRUPTED
            if self.found[-1].assignment is not None and self.apart == 1:
                self._keep_neighbours(self.found[-1].assignment, options)

    def _options(self, options: Mapping[str, Any], number: int) -> dict[str, Any]:
        """The options of one solve: its start, its checkpoint, and a callback that keeps what it finds."""
        chosen = {**options, "callbacks": (*as_callbacks(options.get("callbacks", ())), self._remember)}
        start = self._start()
        if start is not None and options.get("initial") is None:
            chosen["initial"] = self.problem.names.labelled(start)
        elif number:
            chosen["initial"] = None
        if options.get("checkpoint") is not None:
            path = Path(f"{options['checkpoint']}.{number}")
            chosen |= {"checkpoint": path, "resume": bool(options.get("resume")) and path.exists()}
        return chosen

    def _remember(self, progress: Progress) -> None:
        if progress.improved and progress.assignment is not None and progress.cost is not None:
            self._keep([(progress.cost, progress.assignment[: self.problem.auxiliaries.num_visible])])

    def _keep(self, assignments: Iterable[tuple[float, Assignment]]) -> None:
        for cost, assignment in assignments:
            self._pool[assignment.tobytes()] = (self._sign * cost, assignment)
        if len(self._pool) > 2 * POOL:
            best = sorted(self._pool.items(), key=lambda item: item[1][0])[:POOL]
            self._pool = dict(best)

    def _keep_neighbours(self, answer: Assignment, options: Mapping[str, Any]) -> None:
        """Keep the best of the assignments that differ from an answer in one variable."""
        fixed = FirstAnswers(options.get("fix"), None).fixed(self.problem)
        free = np.array([int(v) for v in self.counted if int(v) not in fixed], dtype=np.int64)
        sizes = self.problem.domain_sizes[free]
        if not len(free) or float(sizes.sum()) * self.problem.num_variables > NEIGHBOUR_CELLS:
            return
        seen = self.problem.auxiliaries.num_visible
        rows = np.repeat(answer[None, :seen], int(sizes.sum()), axis=0)
        values = np.concatenate([np.arange(size) for size in sizes])
        rows[np.arange(len(rows)), np.repeat(free, sizes)] = values
        costs: NDArray[np.float64] = np.asarray(self.problem.cost(rows))
        for place in np.argsort(self._sign * costs, kind="stable")[:POOL].tolist():
            if np.isfinite(costs[place]) and (rows[place] != answer[:seen]).any():
                self._keep([(float(costs[place]), rows[place])])

    def _start(self) -> Assignment | None:
        """The best assignment kept that differs from the answers."""
        answers = self._assignments
        for _, assignment in sorted(self._pool.values(), key=lambda item: item[0]) if answers else ():
            if self._differs(assignment, answers):
                return assignment
        return None

    def _of(self, result: Result) -> Result:
        """The result of a restricted problem as one of the problem."""
        if result.assignment is None:
            return dataclasses.replace(result, problem=self.problem)
        assignment = result.assignment[: self.problem.auxiliaries.num_visible]
        cost = float(self.problem.cost(assignment))
        bound = cost if result.status is Status.OPTIMAL else result.bound
        return dataclasses.replace(result, assignment=assignment, cost=cost, bound=bound, problem=self.problem)

    def sorted(self) -> list[Result]:
        """The answers by cost. An answer that costs no more than a proved one is proved, too, at distance 1."""
        results = sorted(self.found, key=lambda each: math.inf if each.cost is None else self._sign * each.cost)
        if self.apart > 1:
            return results
        known = False
        for place in reversed(range(len(results))):
            result = results[place]
            known = known or result.status in (Status.OPTIMAL, Status.INFEASIBLE)
            if known and result.assignment is not None:
                results[place] = dataclasses.replace(result, status=Status.OPTIMAL, limit=None, bound=result.cost)
        return results


def _checked(
    problem: Problem, solutions: int, distance: int, among: Collection[Hashable] | None
) -> tuple[int, int, Indices]:
    """Numbers of answers and of variables in which they differ, and the variables that count."""
    wanted, apart = as_count("solutions", solutions, 1), as_count("distance", distance, 1)
    if wanted is None or apart is None:
        raise ParameterError("solutions and distance are whole numbers of at least 1")
    counted = np.arange(problem.auxiliaries.num_visible)
    if among is not None:
        counted = np.unique([problem.names.variable_index(one) for one in among])
    if len(counted) < apart and wanted > 1:
        raise ParameterError(f"answers cannot differ in {apart} variables: {len(counted)} count")
    return wanted, apart, counted


def _noted(result: Result, note: str) -> Result:
    """The result of one answer; `note` says why there is a time limit."""
    if not note or result.limit != TIME:
        return result
    return dataclasses.replace(result, notes=(*result.notes, f"{note}, for all answers together"))
