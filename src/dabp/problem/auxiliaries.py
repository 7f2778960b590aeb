"""Auxiliary variables: they make a statement a sum of small tables, and follow from the others.

They are the last variables of a problem. Each has *defining* factors, in whose scopes it comes last, after variables
with smaller numbers: given the values of those, it takes the first value that is best in the defining factors' sum,

    x_a = argmin_τ  Σ_{f defines a} f(…, τ),   a = V, V + 1, …, N − 1.

So an assignment of the V visible variables is completed in one pass. Whoever builds such factors ensures that no other
completion costs less.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.columns import Indices, distinct, ragged_positions
from dabp.problem.facts import Columns, Structure

if TYPE_CHECKING:
    from dabp.problem.globals.base import Posted


class _Part(NamedTuple):
    """Defining factors of one arity."""

    variables: Indices
    """Their other variables, [n, k − 1]."""
    strides: Indices
    """Cells that a step of these variables' values moves, [n, k − 1]."""
    bases: Indices
    """Their first cells, [n]."""
    slot: Indices
    """The places of the defined variables among the targets of the step, [n]."""


class _Step(NamedTuple):
    """Auxiliary variables of one domain size that depend on earlier steps only."""

    targets: Indices
    domain_size: int
    parts: list[_Part]


class Definitions:
    """Which variables are auxiliary, and the order in which they follow from the others; no cost enters."""

    def __init__(self, columns: Columns):
        self._columns = columns

    @cached_property
    def count(self) -> int:
        """How many of the variables, the last ones, are auxiliary."""
        return len(distinct(self.defined))

    @property
    def num_visible(self) -> int:
        """V: how many of the variables are not auxiliary."""
        return len(self._columns.domain_sizes) - self.count

    @cached_property
    def defined(self) -> Indices:
        """The auxiliary variable of each defining factor, as long as `definitions`."""
        return self._columns.scope_variables[self._columns.scope_offsets[self._columns.definitions + 1] - 1]

    @cached_property
    def steps(self) -> list[_Step]:
        """The auxiliary variables in steps: by how long a chain of definitions leads to them, and by domain size."""
        columns, defined = self._columns, self.defined
        depth = self._depths()[defined - self.num_visible]
        sizes, arities = columns.domain_sizes[defined], np.diff(columns.scope_offsets)[columns.definitions]
        steps = []
        for level, size in np.unique(np.stack([depth, sizes], axis=1), axis=0).tolist():
            chosen = np.flatnonzero((depth == level) & (sizes == size))
            targets = np.unique(defined[chosen])
            parts = [self._part(chosen[arities[chosen] == arity], targets) for arity in np.unique(arities[chosen])]
            steps.append(_Step(targets, size, parts))
        return steps

    def _part(self, numbers: Indices, targets: Indices) -> _Part:
        """The defining factors of these numbers, all of one arity."""
        columns = self._columns
        factors = columns.definitions[numbers]
        variables = columns.scope_variables[ragged_positions(columns.scope_offsets, factors)].reshape(len(factors), -1)
        strides = np.cumprod(columns.domain_sizes[variables][:, :0:-1], axis=1)[:, ::-1]
        bases = columns.pool_offsets[columns.factor_table[factors]]
        return _Part(variables[:, :-1], strides, bases, np.searchsorted(targets, self.defined[numbers]))

    def _depths(self) -> Indices:
        """How many definitions lead to each auxiliary variable at most, [A]."""
        seen, depth = self.num_visible, [0] * self.count
        for factor in self._columns.definitions[np.argsort(self.defined, kind="stable")].tolist():
            *scope, target = self._scope_of(factor)
            before = max((depth[variable - seen] for variable in scope if variable >= seen), default=0)
            depth[target - seen] = max(depth[target - seen], 1 + before)
        return np.array(depth, dtype=np.int64)

    def visible_scope(self, factor: int) -> tuple[int, ...]:
        """The variables a factor looks at, in place of auxiliary ones those that they follow from, in order."""
        seen, found = self.num_visible, dict[int, None]()
        waiting = self._scope_of(factor)[::-1]
        while waiting:
            variable = waiting.pop()
            if variable not in found:
                found[variable] = None
                if variable >= seen:
                    for one in reversed(self._definitions_of[variable]):
                        waiting += self._scope_of(one)[::-1]
        return tuple(variable for variable in found if variable < seen)

    def _scope_of(self, factor: int) -> list[int]:
        start, end = self._columns.scope_offsets[factor : factor + 2]
        scope: list[int] = self._columns.scope_variables[start:end].tolist()
        return scope

    @cached_property
    def _definitions_of(self) -> dict[int, list[int]]:
        """The defining factors of each auxiliary variable."""
        result: dict[int, list[int]] = {}
        for factor, variable in zip(self._columns.definitions.tolist(), self.defined.tolist(), strict=True):
            result.setdefault(variable, []).append(factor)
        return result


class Auxiliaries:
    """The auxiliary variables of a problem, and their values."""

    def __init__(
        self, structure: Structure, pool: NDArray[np.float64], maximize: bool, statements: tuple[Posted, ...] = ()
    ):
        self._columns, self._pool, self._maximize = structure.columns, pool, maximize
        self._found = structure.memo.get(Definitions, lambda: Definitions(structure.columns))
        self.definitions = structure.columns.definitions
        self.statements = statements
        """The global functions that factors of the problem are together, or that follow from them."""

    @property
    def hard_statements(self) -> tuple[Posted, ...]:
        """Those that forbid and cost nothing else: they hold whatever the costs are."""
        return tuple(posted for posted in self.statements if posted.function.hard)

    @property
    def count(self) -> int:
        """How many of the variables, the last ones, are auxiliary."""
        return self._found.count

    @property
    def num_visible(self) -> int:
        """V: how many of the variables are not auxiliary."""
        return self._found.num_visible

    def visible(self, assignment: Indices) -> Indices:
        """The part of an assignment, or of a batch, that is about variables which are not auxiliary."""
        return assignment[..., : self.num_visible] if self.count else assignment

    def visible_scope(self, factor: int) -> tuple[int, ...]:
        """The variables in the scope of a factor, auxiliary ones replaced by those they follow from, in order."""
        return self._found.visible_scope(factor)

    def completed(self, assignment: Indices) -> Indices:
        """An assignment [..., V] or [..., N] with the auxiliary variables as the others say, [..., N]."""
        seen = self.num_visible
        if not self.count:
            return assignment
        values = np.zeros((*assignment.shape[:-1], len(self._columns.domain_sizes)), dtype=np.int64)
        values[..., :seen] = assignment[..., :seen]
        for step, known in zip(self._found.steps, self._choices, strict=True):
            if known is not None:
                part, bases, choices = known
                rows = bases + (values[..., part.variables] * (part.strides // step.domain_size)).sum(axis=-1)
                values[..., step.targets[part.slot]] = choices[rows]
                continue
            costs = np.zeros((len(step.targets), *values.shape[:-1], step.domain_size))
            for part in step.parts:
                cells = part.bases + (values[..., part.variables] * part.strides).sum(axis=-1)
                rows = self._pool[cells[..., None] + np.arange(step.domain_size)]
                np.add.at(costs, part.slot, np.moveaxis(rows, -2, 0))
            best = (costs.argmax if self._maximize else costs.argmin)(axis=-1)
            values[..., step.targets] = np.moveaxis(best, 0, -1)
        return values

    @cached_property
    def _choices(self) -> list[tuple[_Part, Indices, Indices] | None]:
        """For each step of one factor to a variable: its part, each one's first row, and what each row chooses."""
        return [self._chosen(step) for step in self._found.steps]

    def _chosen(self, step: _Step) -> tuple[_Part, Indices, Indices] | None:
        part = step.parts[0]
        if len(step.parts) > 1 or len(np.unique(part.slot)) < len(part.slot):
            return None
        first, same = np.unique(part.bases, return_inverse=True)
        ends = self._columns.pool_offsets[np.searchsorted(self._columns.pool_offsets, first, side="right")]
        tables = [self._pool[a:b].reshape(-1, step.domain_size) for a, b in zip(first, ends, strict=True)]
        choices = [(table.argmax if self._maximize else table.argmin)(axis=1) for table in tables]
        offsets = np.cumsum([0, *(len(each) for each in choices)])
        return part, offsets[same], np.concatenate(choices)


def validate_definitions(columns: Columns) -> None:
    """Refuse defining factors that do not give the last variables a value each, one after the other."""
    chosen = columns.definitions
    if not len(chosen):
        return
    offsets, scope, count = columns.scope_offsets, columns.scope_variables, len(columns.domain_sizes)
    if chosen.ndim != 1 or chosen.min() < 0 or chosen.max() >= len(offsets) - 1 or len(np.unique(chosen)) < len(chosen):
        raise ProblemError(f"definitions name some of the factors 0 to {len(offsets) - 2}, each once")
    lengths = offsets[chosen + 1] - offsets[chosen]
    if (lengths < 1).any():
        raise ProblemError("a factor without variables defines none")
    last = np.repeat(scope[offsets[chosen + 1] - 1], lengths)
    if (scope[ragged_positions(offsets, chosen)] > last).any():
        raise ProblemError("a defining factor looks at variables before the auxiliary one, which it names last")
    defined = distinct(last)
    if not np.array_equal(defined, np.arange(count - len(defined), count)):
        raise ProblemError("auxiliary variables are the last of a problem, and each has a defining factor")
