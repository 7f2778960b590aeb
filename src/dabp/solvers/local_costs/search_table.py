"""What the compiled problems of local search share: order of the variables, saved states, tabu search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.exchange import Sets
from dabp.kernels.local_search.flips import Couplings, flip_classes, flip_sweep
from dabp.kernels.local_search.heat_bath import sweep, sweep_classes
from dabp.kernels.local_search.moves import remember_now
from dabp.kernels.local_search.search_arrays import LANES, TALLY, Costs, Floats, Ints, Noise
from dabp.kernels.local_search.tabu_moves import BLOCK, CLOCK, Moves, Rules, tabu, weigh_all
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices
from dabp.solvers.base import State as Saved
from dabp.solvers.local_costs.colouring import Classes
from dabp.solvers.local_costs.cost_units import Units
from dabp.solvers.local_costs.temperatures import Differences

S = TypeVar("S", bound=Any)
"""The state of a search: `kernels.local_search.search_arrays.State` or `kernels.local_search.flips.Flips`."""


FAR = 2**62
"""More than any cost in units and any number of steps."""


class Table(ABC, Generic[S]):
    """A compiled problem: what changes of value cost, kept up to date as variables move.

    Attributes
    ----------
    problem, units
        What is solved, and its costs as integers.
    classes
        The order that `units`, and all that is made of them, have the variables in; None for the problem's own.
    costs, couplings
        What the kernels read; one of them is None.
    sets
        Variables that must all differ, which annealing lets exchange their values; None if there are none.
    infeasible
        Whether a factor or all values of a variable forbid everything.
    """

    costs: Costs | None = None
    couplings: Couplings | None = None
    sets: Sets | None = None
    infeasible: bool
    hot_share: ClassVar[float] = 0.25
    """The share of updates in a local minimum that go uphill at the temperature that annealing begins with."""
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
        """The finite cost of an assignment, in units."""
        return self.units.of(self.inside(assignment))

    def random_assignment(self, rng: np.random.Generator) -> Assignment:
        """An assignment of values drawn uniformly."""
        return self.outside(rng.integers(0, self.units.problem.domain_sizes))

    def arranged(self, assignment: Assignment) -> Assignment:
        """What annealing begins from instead of an assignment."""
        return assignment

    # ---- states ----------------------------------------------------------------------------------

    @abstractmethod
    def state(self, seed: int) -> S:
        """A state to be given an assignment (`put`) before use."""

    @abstractmethod
    def put(self, state: S, assignment: Assignment) -> None:
        """Continue from an assignment; values that are forbidden by themselves are replaced."""

    def coded(self, assignment: Assignment) -> NDArray[Any]:
        """An assignment as `state.x` and `state.best` hold it, [N]."""
        return self.inside(assignment)

    def decoded(self, values: NDArray[Any]) -> Assignment:
        """The assignment that `state.x` or `state.best` holds, a copy."""
        return self.outside(values.copy())

    def blank(self, seed: int) -> dict[str, NDArray[Any]]:
        """The arrays that all kinds of states have, with nothing in them."""
        return {
            "journal": np.zeros(max(self.problem.num_variables, 1), dtype=np.int64),
            "tally": np.zeros((), dtype=TALLY),
            "random": np.array([seed], dtype=np.uint64),
        }

    def remember(self, state: S) -> None:
        """Keep the assignment if it is feasible and the best so far."""
        remember_now(state, state.x)

    def best(self, state: S) -> Assignment:
        """The best feasible assignment, a copy."""
        return self.decoded(state.best)

    def saved(self, state: S) -> Saved:
        """What does not follow from the rest of a state, for a checkpoint."""
        return {
            "values": self.decoded(state.x),
            "best": self.best(state),
            "feasible": bool(state.tally["feasible"]),
            "level": int(state.tally["level"]),
            "random": state.random.copy(),
        }

    def restore(self, state: S, saved: Saved) -> None:
        """Take up a saved state, whose assignments name values of the problem; all that follows is computed again.

        Raises `ValueError` for what no search can have reached.
        """
        if abs(saved["level"]) >= FAR:
            raise ValueError("its level is beyond its range")
        self.put(state, saved["values"])
        state.best[:] = self.coded(saved["best"])
        state.tally["feasible"], state.tally["level"] = saved["feasible"], saved["level"]
        state.tally["best"] = self.cost_of(saved["best"]) if saved["feasible"] else 0
        state.random[:] = saved["random"]

    # ---- annealing -------------------------------------------------------------------------------

    @abstractmethod
    def noise(self, rng: np.random.Generator) -> Noise:
        """Random numbers for `sweep`, drawn once."""

    @abstractmethod
    def differences(self, state: S, rng: np.random.Generator, most: int) -> Differences:
        """What other values cost, for a sample of at most `most` variables with values uphill."""

    def sweep(self, state: S, noise: Noise, temperatures: Floats, lowest: Ints) -> None:
        """Offer every variable a new value once per temperature (in units); `lowest` gets each sweep's least cost.

        In classes, unless values are exchanged; `lowest` then gets the cost after each sweep. Infeasible costs do not
        count.
        """
        if self.classes is None or self.sets is not None:
            if self.couplings is not None:
                flip_sweep(self.couplings, state, noise, temperatures, lowest)
            elif self.costs is not None:
                sweep(self.costs, state, self.sets, noise, temperatures, lowest)
            return
        starts = self.classes.starts
        moved, new = np.empty((2, int(np.diff(starts).max(initial=0))), dtype=np.int64)
        if self.couplings is not None:
            flip_classes(self.couplings, state, starts, moved, noise, temperatures, lowest)
        elif self.costs is not None:
            sweep_classes(self.costs, state, starts, moved, new, noise, temperatures, lowest)

    # ---- tabu search -----------------------------------------------------------------------------

    def moves(self, longest_tenure: int) -> Moves:
        """Arrays for tabu search."""
        dtype, pad, owner = self.units.dtype, self.units.pad, np.arange(self.problem.num_variables)
        if self.costs is not None:
            owner = np.repeat(owner, self.costs.rows.width)
        blocks, ring = max(1, -(-self.problem.num_variables // BLOCK)), 2 * longest_tenure + 2
        padded = -(-blocks // LANES) * LANES
        return Moves(
            closed=np.zeros(len(owner), dtype=dtype),
            until=np.full(len(owner), -1, dtype=np.int64),
            owner=owner,
            open_best=np.full(blocks * BLOCK, pad, dtype=dtype),
            any_best=np.full(blocks * BLOCK, pad, dtype=dtype),
            open_block=np.full(padded, pad, dtype=dtype),
            any_block=np.full(padded, pad, dtype=dtype),
            dirty=np.zeros(blocks, dtype=np.int64),
            is_dirty=np.zeros(blocks, dtype=np.bool_),
            made=np.zeros(ring, dtype=np.int64),
            following=np.full(ring, -1, dtype=np.int64),
            ending=np.full(ring, -1, dtype=np.int64),
            clock=np.zeros((), dtype=CLOCK),
            pad=pad,
        )

    def open_all(self, state: S, moves: Moves) -> None:
        """Begin tabu search from the state's assignment with nothing tabu."""
        self.resume(state, moves, np.full(len(moves.until), -1), int(moves.clock["step"]), int(moves.clock["minima"]))

    def resume(self, state: S, moves: Moves, until: Indices, step: int, minima: int) -> None:
        """Continue from the state's assignment after `step` steps, places being tabu `until` some of the next.

        Raises `ValueError` for what no search can have reached.
        """
        ring, tabu_places = len(moves.ending), np.flatnonzero(until >= step)
        order = tabu_places[np.argsort(-until[tabu_places], kind="stable")]
        nodes = step - 1 - np.arange(len(order))  # a node of the ring is used again `ring` steps later
        if not 0 <= step < FAR or not 0 <= minima < FAR or (until[order] > nodes + ring).any():
            raise ValueError("what is tabu would never end")
        moves.until[:], moves.clock["step"], moves.clock["minima"] = until, step, minima
        moves.closed[:] = 0
        moves.closed[order] = self.units.pad
        if self.costs is not None:
            moves.closed[self.costs.rows.start + state.x] = self.units.pad
        moves.ending[:] = -1
        for node, place in zip((nodes % ring).tolist(), order.tolist(), strict=True):
            moves.made[node], moves.following[node] = place, moves.ending[until[place] % ring]
            moves.ending[until[place] % ring] = node
        weigh_all(self.costs, self.couplings, state, moves)

    def tabu(self, state: S, moves: Moves, rules: Rules, lowest: NDArray[np.int64]) -> None:
        """Iterations of tabu search; `lowest` gets the least cost of each."""
        tabu(self.costs, self.couplings, state, moves, rules, lowest)
