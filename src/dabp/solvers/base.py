"""The contract of solvers: frozen hyperparameters that start a `Search`, which the driver steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.status import Status
from dabp.solvers.traffic import Traffic

BLOCK_SECONDS = 0.02
"""Seconds that one `Search.step` should take, so that limits and signals are answered promptly."""

FIRST_BLOCK = 200_000
"""Numbers that a first block may read: any machine does in a tenth of `BLOCK_SECONDS`."""

State = dict[str, Any]
"""A search's state: NumPy arrays at the top level (saved as safetensors) and JSON values of any depth."""


@dataclass(frozen=True)
class Budget:
    """The limits of a search, which the driver enforces; schedules are planned by them."""

    time_limit: float | None = None
    max_iterations: int | None = None
    memory_limit: int | None = None
    """Bytes for the whole process."""
    threads: int = 1
    guard: Guard = field(default_factory=Guard)
    """Checked during long preparations, and by the driver between steps."""


@dataclass
class Step:
    """The result of one block of a search.

    Costs are those of the problem given to `Solver.start`, always a minimisation; inf = infeasible.
    """

    costs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The cost of each iteration's own candidate, in order: its length is the number of iterations done."""
    best: Assignment | None = None
    """The best candidate of the block (need not beat earlier blocks), None if there is none."""
    best_cost: float = np.inf
    """Its cost; the driver recomputes it and refuses a mismatch."""
    bound: float | None = None
    """A proved lower bound on the optimum, if the block gave one."""
    finished: Status | None = None
    """Why the search has ended: OPTIMAL and INFEASIBLE (proved only), CONVERGED, LIMIT (own schedule over)."""
    limit: str | None = None
    """What ended the search if `finished` is LIMIT, as a word of `Result.limit`; None: its own iterations are done."""
    records: list[dict[str, Any]] = field(default_factory=list)
    """JSON-able facts for the trace, e.g. a DABP window's loss."""
    notes: tuple[str, ...] = ()
    """Lines for the summary, given with the last step."""


class Search(ABC):
    """A running solve. Not thread-safe: one thread steps it."""

    state_assignments: ClassVar[tuple[str, ...]] = ("best", "values", "incumbent")
    """Entries of `state_dict` that are assignments, or rows of them: any others that come back are refused."""

    priced: ClassVar[bool] = False
    """Whether the costs of its best assignments come from `Problem.cost`, so that they need not be recomputed."""

    @property
    def at_boundary(self) -> bool:
        """Whether `state_dict` may be called now (DABP: only between windows)."""
        return True

    @abstractmethod
    def step(self) -> Step:
        """Run for about `BLOCK_SECONDS` (or one indivisible unit of work) and return what it found.

        Never called again after a step with `finished`.
        """

    def offer(self, assignment: Assignment, cost: float) -> None:  # noqa: B027 - optional
        """Take an incumbent found elsewhere; a search that cannot use one ignores it."""

    def observe(self, observer: Callable[[Any], object]) -> None:
        """Call a function with what each iteration has computed; raises `ParameterError` if there is nothing to see."""
        raise ParameterError("observe is for the solver dabp: other solvers have no iterations to look into")

    def pending(self) -> Assignment | None:
        """The best assignment that no step has reported, for a search that is stopped."""
        return None

    def summary(self) -> tuple[str, ...]:
        """Lines for the notes of the result; called once when the search has ended."""
        return ()

    def traffic(self) -> Traffic | None:
        """The messages of a distributed run of the iterations so far; None if the method has no such run."""
        return None

    def beliefs(self) -> tuple[NDArray[np.float64], ...] | None:
        """The probability of each value of each variable; None if the method has none."""
        return None

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Name → array that must be finite between steps (messages, parameters); `finite_numbers` checks them."""
        return {}

    def state_dict(self) -> State:
        """All that `load_state_dict` needs to continue bit for bit."""
        raise ParameterError(f"{type(self).__name__} cannot be checkpointed")

    def load_state_dict(self, state: State) -> None:
        """Continue from `state_dict` of a search on the same problem, solver and seed."""
        raise ParameterError(f"{type(self).__name__} cannot be resumed")

    def close(self) -> None:  # noqa: B027 - optional
        """End child processes and threads. Called once, also after an error."""


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """Hyperparameters, checked on construction (raise `ParameterError` in ``__post_init__``).

    Every field is a parameter of the command line (``--param name=value``), so annotate it with a plain
    type (int, float, str, bool, optionally ``| None``) and document it in the class docstring.
    """

    checkpoints: ClassVar[bool] = False
    """Whether its searches implement `Search.state_dict`."""
    prefixes: ClassVar[bool] = False
    """Whether a run with fewer `restarts` is the beginning of one with more: experiments run only the latter."""
    presolves: ClassVar[bool] = False
    """Whether the driver simplifies the problem first by default."""
    proves: ClassVar[bool] = False
    """Whether its searches prove bounds: the driver then gives it decimal costs as integers, the constant apart."""
    parallel: ClassVar[bool] = False
    """Whether the driver gives it all available cores when the caller does not say how many."""
    iterations_end: ClassVar[bool] = True
    """Whether a limit on iterations is sure to end its searches: not where an iteration is an improvement."""

    @abstractmethod
    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin on a minimisation problem (the driver negates, conditions and presolves before)."""
