"""The methods of `Problem` that exchange problems with other packages; `dabp.problem.interop` does the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from dabp.problem import Problem
    from dabp.problem.interop import Tables


class Exchange:
    """What `Problem` inherits; nothing here is imported before it is called."""

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> Problem:
        """A pairwise problem on a NetworkX graph; see `dabp.problem.interop.from_networkx`."""
        from dabp.problem.interop import from_networkx

        return from_networkx(graph, **options)

    @classmethod
    def from_tables(
        cls, domain_sizes: Sequence[int], tables: Sequence[tuple[Sequence[int], ArrayLike]], **options: Any
    ) -> Problem:
        """A problem from scopes and NumPy tables; see `dabp.problem.interop.from_tables`."""
        from dabp.problem.interop import from_tables

        return from_tables(domain_sizes, tables, **options)

    @classmethod
    def grid(cls, unary: ArrayLike, pairwise: str | ArrayLike = "potts", **options: Any) -> Problem:
        """A problem on an image, a variable for each pixel; see `dabp.problem.grid.grid`."""
        from dabp.problem.grid import grid

        return grid(unary, pairwise, **options)

    @classmethod
    def from_qubo(cls, matrix: Any, offset: float = 0.0, **options: Any) -> Problem:
        """The problem of a QUBO matrix, sparse matrix or dictionary; see `dabp.problem.qubo.from_qubo`."""
        from dabp.problem.qubo import from_qubo

        return from_qubo(matrix, offset, **options)

    @classmethod
    def from_ising(cls, h: Any, J: Any, offset: float = 0.0, **options: Any) -> Problem:
        """The problem of an Ising model, its labels −1 and +1; see `dabp.problem.qubo.from_ising`."""
        from dabp.problem.qubo import from_ising

        return from_ising(h, J, offset, **options)

    @classmethod
    def from_dimod(cls, model: Any, **options: Any) -> Problem:
        """The problem of a ``dimod.BinaryQuadraticModel``; see `dabp.problem.qubo.from_dimod`."""
        from dabp.problem.qubo import from_dimod

        return from_dimod(model, **options)

    @classmethod
    def from_pgmpy(cls, model: Any, **options: Any) -> Problem:
        """The problem of a pgmpy network; see `dabp.problem.networks.from_pgmpy`."""
        from dabp.problem.networks import from_pgmpy

        return from_pgmpy(model, **options)

    @classmethod
    def from_pyagrum(cls, model: Any, **options: Any) -> Problem:
        """The problem of a pyAgrum network; see `dabp.problem.networks.from_pyagrum`."""
        from dabp.problem.networks import from_pyagrum

        return from_pyagrum(model, **options)

    def to_dimod(self) -> Any:
        """A ``dimod.BinaryQuadraticModel`` of the problem; see `dabp.problem.qubo.to_dimod`."""
        from dabp.problem.qubo import to_dimod

        return to_dimod(cast("Problem", self))

    def to_sampleset(self, assignments: ArrayLike) -> Any:
        """Assignments as a ``dimod.SampleSet``; see `dabp.problem.qubo.to_sampleset`."""
        from dabp.problem.qubo import to_sampleset

        return to_sampleset(cast("Problem", self), assignments)

    def to_tables(self) -> Tables:
        """Scope and NumPy table of every factor; see `dabp.problem.interop.to_tables`."""
        from dabp.problem.interop import to_tables

        return to_tables(cast("Problem", self))

    def to_toulbar2(self, **options: Any) -> Any:
        """A ``pytoulbar2.CFN`` of the problem; see `dabp.problem.interop.to_toulbar2`."""
        from dabp.problem.interop import to_toulbar2

        return to_toulbar2(cast("Problem", self), **options)
