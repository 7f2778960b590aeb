"""What searches by message passing share: preparations in stages, and one engine on one factor graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.base import FIRST_BLOCK, Search, Step
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.traffic import Traffic

LARGE_EDGES = 200_000
"""Edges of a problem from which preparations are cut into stages."""
LARGE_TABLES = 4_000_000
"""Cells of tables from which preparations are cut into stages."""


def first_block(graph: FactorGraph) -> int:
    """Iterations that take little time on any machine, before one was timed."""
    return max(1, FIRST_BLOCK // max(graph.num_cells, graph.num_messages, 1))


class StagedSearch(Search):
    """A search whose preparations are a generator: on large problems a solve can be ended between its stages."""

    _graph: FactorGraph
    _engine: MinSum

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._large = len(problem.scope_variables) > LARGE_EDGES or len(problem.pool) > LARGE_TABLES
        """Whether each stage of the preparations takes a good part of a second."""
        self._setup: Iterator[None] | None = self._stages()
        self._iterations = 0

    @abstractmethod
    def _stages(self) -> Iterator[None]:
        """Make the graph and the engine and begin the first run; yields between stages."""

    @abstractmethod
    def _work(self) -> Step:
        """One block after the preparations."""

    def _set_up(self) -> None:
        """Do what is left of the preparations."""
        if self._setup is not None:
            for _ in self._setup:
                pass
            self._setup = None

    def step(self) -> Step:
        """A block of work, preceded by the preparations, a stage at a time."""
        if self._setup is not None:
            if next(self._setup, True) is None:
                return Step()
            self._setup = None
        return self._work()

    def traffic(self) -> Traffic:
        """Two messages along each edge in an iteration, an entry for each value; a split factor sends twice as many.

        Unary costs are a variable's own, and send nothing.
        """
        if self._setup is not None:
            return Traffic(0, 0)
        graph = self._graph
        return Traffic(2 * self._iterations * graph.num_edges, 2 * self._iterations * graph.num_messages)

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages and the field of reinforcement."""
        if self._setup is not None:
            return {}
        memory = self._engine.memory
        return {"v2f messages": memory.v2f, "f2v messages": memory.f2v, "the field": memory.field}

    def close(self) -> None:
        """End the threads."""
        if self._setup is None:
            self._engine.close()
