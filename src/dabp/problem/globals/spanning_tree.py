"""Each argument names its parent in a spanning tree, the root itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction


@dataclass(frozen=True)
class SpanningTree(GlobalFunction):
    """Symbols are numbers of arguments, others are none's; following parents from anywhere ends at the only root."""

    def violation(self, rows: Indices) -> Floats:
        """1 for what is no tree."""
        count = rows.shape[1]
        inside = ((rows >= 0) & (rows < count)).all(axis=1)
        parents = np.where(inside[:, None], rows, 0)
        roots = (parents == np.arange(count)).sum(axis=1)
        last = parents
        for _ in range(count.bit_length()):
            last = np.take_along_axis(last, last, axis=1)
        ends = np.take_along_axis(parents, last, axis=1) == last  # all ends are roots, and there is one
        return np.asarray(~(inside & (roots == 1) & ends.all(axis=1)), dtype=np.float64)
