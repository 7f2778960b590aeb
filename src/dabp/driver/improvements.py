"""Each better answer of a solve as it is found: for a function, or as an iterator."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from dabp.driver.arguments import checked_problem
from dabp.driver.result import Result, relative_gap
from dabp.driver.solve import solve
from dabp.driver.stopping import Progress
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.problem.views import Label


@dataclass(frozen=True)
class Improvement:
    """An answer that is better than all before it."""

    values: dict[str, Label]
    """The assignment by name (or key) and label."""
    cost: float
    """What it costs."""
    bound: float | None
    """What no assignment is better than, as far as it is proved so far."""
    seconds: float
    """Since the solve was called."""
    iterations: int
    """Of the solver."""

    @property
    def gap(self) -> float | None:
        """Relative distance between cost and bound."""
        return relative_gap(self.cost, self.bound)


def on_improvement(problem: Problem | Model, function: Callable[[Improvement], Any]) -> Callable[[Progress], bool]:
    """A callback for `dabp.solve` that calls `function` with each improvement; True from it ends the solve.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> callback = on_improvement(model, lambda improvement: print(improvement.cost, improvement.values))
    >>> result = solve(model, "icm", callbacks=[callback])
    0.0 {'x': 0, 'y': 0}
    """
    known = checked_problem(problem)
    best: list[float] = []

    def callback(progress: Progress) -> bool:
        if progress.assignment is None or progress.cost is None or (best and progress.cost == best[0]):
            return False
        best[:] = [progress.cost]
        values = known.names.labelled(progress.assignment)
        found = Improvement(values, progress.cost, progress.bound, progress.time, progress.iterations)
        return function(found) is True

    return callback


class Improvements:
    """The improvements of a solve that runs in a thread, one by one; `result` once it has ended.

    Leaving a loop early does not end the solve: `stop`, or leaving a ``with`` block, does.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`. Ctrl-C reaches the loop and not the solve, whose thread receives no signals.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> with Improvements(model, "icm") as improvements:
    ...     for improvement in improvements:
    ...         print(improvement.cost)
    0.0
    >>> improvements.result.cost
    0.0
    """

    def __init__(self, problem: Problem | Model, solver: str = "auto", **options: Any):
        known = checked_problem(problem)
        self._found: queue.SimpleQueue[Improvement | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        callback = on_improvement(known, self._found.put)
        callbacks = (*options.pop("callbacks", ()), callback, lambda progress: self._stop.is_set())

        def run() -> None:
            try:
                self._result = solve(known, solver, callbacks=callbacks, **options)
            except BaseException as error:
                self._error = error
            finally:
                self._found.put(None)

        self._thread = threading.Thread(target=run, daemon=True, name="dabp-improvements")
        self._thread.start()

    def __iter__(self) -> Iterator[Improvement]:
        while (improvement := self._found.get()) is not None:
            yield improvement
        self._found.put(None)  # a second loop ends at once
        self._thread.join()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """End the solve after its present block."""
        self._stop.set()

    @property
    def result(self) -> Result:
        """The result; waits for the end of the solve."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def __enter__(self) -> Improvements:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        self._thread.join()


def improvements(problem: Problem | Model, solver: str = "auto", **options: Any) -> Iterator[Improvement]:
    """Each improvement of a solve, for a loop; leaving the loop ends the solve.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> [improvement.cost for improvement in improvements(model, "icm")]
    [0.0]
    """
    with Improvements(problem, solver, **options) as found:
        yield from found
