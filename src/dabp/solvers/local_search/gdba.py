"""The generalised distributed breakout algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.elimination.free_set import Columns
from dabp.kernels.local_search.breakout import Breakout, Rules, gdba, place_all
from dabp.problem import Assignment, Problem
from dabp.problem.columns import offsets_of
from dabp.problem.incidence import Incidence
from dabp.solvers.base import Budget, Search, Solver, State
from dabp.solvers.local_costs.cost_units import Units
from dabp.solvers.local_search.distributed_search import DistributedSearch


@dataclass(frozen=True, kw_only=True)
class Gdba(Solver):
    """GDBA, the generalised distributed breakout algorithm (Okamoto, Zivan & Nahon 2016).

    In each iteration every variable sends its neighbours what its best change would gain, and changes if none of them
    gains more (of equals, the first in order). Where neither it nor any neighbour gains anything, it raises its
    modifiers of its violated factors, whose costs then weigh more for it. Each variable has modifiers of its own. The
    search ends where nothing is violated.

    Costs of one variable have no modifiers. Factors with negative costs are counted from their least where costs are
    multiplied. Forbidden combinations cost more than everything else at a variable, before modifiers.

    A baseline of the DCOP literature; `annealing` and `tabu` find better answers.

    Parameters
    ----------
    modifier
        ``M``: a cost is multiplied by its modifier, ``A``: the modifier is added.
    violation
        A factor is violated if its cost is not 0 (``NZ``), not its least (``NM``), or its largest (``MX``).
    increase_mode
        Whose modifiers grow by 1: of the present combination (``E``), of all own values beside the others' present
        ones (``R``), of the own present value beside all of the others' (``C``), or of all combinations (``T``).
    """

    checkpoints: ClassVar[bool] = True
    modifier: str = "M"
    violation: str = "NM"
    increase_mode: str = "T"

    def __post_init__(self) -> None:
        if self.modifier not in ("A", "M"):
            raise ParameterError(f"modifier is A or M, not {self.modifier!r}")
        if self.violation not in ("NZ", "NM", "MX"):
            raise ParameterError(f"violation is NZ, NM or MX, not {self.violation!r}")
        if self.increase_mode not in ("E", "R", "C", "T"):
            raise ParameterError(f"increase_mode is E, R, C or T, not {self.increase_mode!r}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _GdbaSearch(self, problem, seed, budget, initial)


class _GdbaSearch(DistributedSearch):
    messages_per_neighbour = 2

    def __init__(self, solver: Gdba, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        if self.stopped is not None:
            return
        multiply = solver.modifier == "M"
        self._gain = np.zeros(problem.num_variables)
        by_own, by_others = solver.increase_mode in "EC", solver.increase_mode in "ER"
        self._rules = Rules(multiply, 1.0 if multiply else self.local.units.scale, by_own, by_others)
        self._breakout = _breakout(self.local.units, solver.violation, self._rules)
        if not self.local.infeasible:
            place_all(self.state, self._breakout)

    def rounds(self, lowest: NDArray[np.int64]) -> int:
        return int(gdba(self.local.costs, self.state, self._breakout, self._rules, self._chosen, self._gain, lowest))

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The gains and the modifiers of factors."""
        if self.stopped is not None:
            return {}
        return {"gains": self._gain, "modifiers": np.asarray(self._breakout.modifier, dtype=np.float64)}

    def state_dict(self) -> State:
        """The state of the search, with the modifiers of factors."""
        return {**super().state_dict(), "modifier": self._breakout.modifier.copy()}

    def load_state_dict(self, state: State) -> None:
        """Continue from what `state_dict` returned."""
        super().load_state_dict(state)
        self._breakout.modifier[...] = state["modifier"]
        place_all(self.state, self._breakout)


def _breakout(units: Units, violation: str, rules: Rules) -> Breakout:
    """The factors of two or more variables; modifiers start at what changes nothing."""
    problem = units.problem
    entries = Columns.of(Incidence(problem))
    tables = problem.factor_table[problem.arities >= 2]
    cells = np.where(units.forbids, units.dominant_weight(), units.cells).astype(np.float64)
    least, most = (problem.facts.per_table(extreme, cells) for extreme in (np.minimum, np.maximum))
    lengths = np.diff(problem.pool_offsets)
    violated = {"NZ": cells != 0, "NM": cells != np.repeat(least, lengths), "MX": cells == np.repeat(most, lengths)}
    domains = problem.domain_sizes[entries.variable]
    others = lengths[tables][entries.factor] // domains
    modifier_at = offsets_of(np.where(rules.by_own, domains, 1) * np.where(rules.by_others, others, 1))
    return Breakout(
        entries=entries,
        zero=np.minimum(least[tables], 0.0),
        cells=cells,
        violated=violated[violation],
        modifier_at=modifier_at[:-1],
        modifier=np.full(int(modifier_at[-1]), 1.0 if rules.multiply else 0.0),
        position=np.zeros(len(tables), dtype=np.int64),
        effective=np.zeros(int(problem.domain_sizes.max(initial=0))),
    )
