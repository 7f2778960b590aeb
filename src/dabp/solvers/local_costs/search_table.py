"""What annealing and tabu search ask of a problem compiled for local search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.tabu_moves import Rules
from dabp.problem import Assignment, Problem
from dabp.solvers.local_costs.colouring import Classes
from dabp.solvers.local_costs.crew import Sweepers
from dabp.solvers.local_costs.scaled_costs import Units
from dabp.solvers.local_costs.temperatures import Differences

S = TypeVar("S", bound=Any)
"""The state of a search: a NamedTuple of arrays with `tally`, see `kernels.local_search.search_arrays.SOFT`."""
M = TypeVar("M", bound=Any)
"""What tabu search keeps of the moves: a NamedTuple of arrays."""


class Table(ABC, Generic[S, M]):
    """A compiled problem: what changes of value cost, kept up to date as variables move.

    Attributes
    ----------
    problem, units
        What is solved, and its costs as integers.
    classes
        The order that `units`, and all that is made of them, have the variables in; None if it is the problem's own.
    infeasible
        Whether a proof of infeasibility lies open: a factor or all values of a variable forbid everything.
    """

    infeasible: bool
    hot_share: ClassVar[float] = 0.25
    """Of the updates in a local minimum, how many go uphill at the temperature that annealing begins with."""
    cooling_power: ClassVar[float] = 2.0
    """While it cools, T⁻ᵖ rises evenly: about how much longer a sweep takes the more variables move; 0 for ln T."""

    def __init__(self, problem: Problem, units: Units, classes: Classes | None):
        self.problem, self.units, self.classes = problem, units, classes

    def inside(self, assignment: Assignment) -> Assignment:
        """An assignment in the order of the table."""
        return assignment if self.classes is None else assignment[self.classes.order]

    def outside(self, values: Assignment) -> Assignment:
        """Values in the order of the table as an assignment."""
        if self.classes is None:
            return values
        assignment = np.empty_like(values)
        assignment[self.classes.order] = values
        return assignment

    def cost_of(self, assignment: Assignment) -> int:
        """What an assignment costs, in units."""
        return self.units.of(self.inside(assignment))

    @abstractmethod
    def state(self, seed: int) -> S:
        """A state to be given an assignment (`put`) before use."""

    @abstractmethod
    def put(self, state: S, assignment: Assignment) -> None:
        """Continue from an assignment; values that are forbidden by themselves are replaced."""

    def arranged(self, assignment: Assignment) -> Assignment:
        """What annealing begins from instead of an assignment."""
        return assignment

    @abstractmethod
    def remember(self, state: S) -> None:
        """Keep the assignment if it is feasible and the best so far."""

    @abstractmethod
    def best(self, state: S) -> Assignment:
        """The best feasible assignment, a copy."""

    @abstractmethod
    def noise(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Random numbers for `sweep`, drawn once."""

    @abstractmethod
    def sweepers(self, threads: int) -> Sweepers | None:
        """Who does the sweeps of a search in classes; None if there are none."""

    @abstractmethod
    def sweep(
        self,
        state: S,
        noise: NDArray[np.float32],
        temperatures: NDArray[np.float64],
        lowest: NDArray[np.int64],
        sweepers: Sweepers | None = None,
    ) -> None:
        """Offer every variable a new value once per temperature (in units); `lowest` gets each sweep's least cost.

        In classes if there is somebody to do that: then the cost after the sweep, if it is feasible.
        """

    @abstractmethod
    def differences(self, state: S, rng: np.random.Generator, most: int) -> Differences:
        """Of variables that have anywhere to go uphill, a sample of at most so many."""

    @abstractmethod
    def moves(self, longest_tenure: int) -> M:
        """Room for tabu search."""

    @abstractmethod
    def open_all(self, state: S, moves: M) -> None:
        """Begin tabu search from the state's assignment with nothing tabu."""

    @abstractmethod
    def tabu(self, state: S, moves: M, rules: Rules, lowest: NDArray[np.int64]) -> None:
        """Iterations of tabu search; `lowest` gets the least cost of each."""

    @abstractmethod
    def check(self, state: S) -> None:
        """Raise `ValueError` if a state that came from a file is none that a search can have reached."""

    @abstractmethod
    def check_moves(self, state: S, moves: M) -> None:
        """The same for what tabu search keeps of the moves; `state` has been checked."""

    def strengthen(self, state: S) -> None:
        """Make what the assignment violates weigh more; the table is then out of date until `put`."""

    def relax(self, state: S) -> None:
        """Halve all weights if one is so large that sums might leave the integers' range; then `put` as well."""

    def forgive(self, state: S) -> None:
        """Halve all weights, down to what they were at first; then `put` as well."""

    def random_assignment(self, rng: np.random.Generator) -> Assignment:
        """Values drawn uniformly."""
        return self.outside(rng.integers(0, self.units.problem.domain_sizes))
