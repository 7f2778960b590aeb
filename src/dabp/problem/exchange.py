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

    def to_tables(self) -> Tables:
        """Scope and NumPy table of every factor; see `dabp.problem.interop.to_tables`."""
        from dabp.problem.interop import to_tables

        return to_tables(cast("Problem", self))

    def to_toulbar2(self, **options: Any) -> Any:
        """A ``pytoulbar2.CFN`` of the problem; see `dabp.problem.interop.to_toulbar2`."""
        from dabp.problem.interop import to_toulbar2

        return to_toulbar2(cast("Problem", self), **options)
