"""What searches by message passing share: preparations in stages, one engine on one factor graph, timed blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.base import BLOCK_SECONDS, FIRST_BLOCK, Budget, Search, Step
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.traffic import Traffic

LARGE_EDGES = 200_000
"""Scope entries of a problem above which the preparations are cut into stages."""
LARGE_TABLES = 4_000_000
"""Cells of tables above which the preparations are cut into stages."""


def first_block(graph: FactorGraph) -> int:
    """Iterations of the first block, which is short on any machine."""
    return max(1, FIRST_BLOCK // max(graph.num_cells, graph.num_messages, 1))


class MessageSearch(Search):
    """Iterations on one factor graph; on large problems a solve can end between the stages of the preparations."""

    _graph: FactorGraph
    _engine: MinSum
    _block_seconds = BLOCK_SECONDS

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self._problem, self._budget = problem, budget
        self._setup: Iterator[None] | None = self._stages()
        self._iterations = 0

    def _stages(self) -> Iterator[None]:
        """Make the graph, the engine and the first run; yields between stages that take a good part of a second."""
        large = len(self._problem.scope_variables) > LARGE_EDGES or len(self._problem.pool) > LARGE_TABLES
        self._graph = self._make_graph()
        if large:
            yield
        self._engine = self._make_engine()
        if large:
            yield
        self._block = first_block(self._graph)
        self._prepare()

    @abstractmethod
    def _make_graph(self) -> FactorGraph:
        """Compile the problem to a factor graph."""

    @abstractmethod
    def _make_engine(self) -> MinSum:
        """Make the engine that runs iterations on the graph."""

    @abstractmethod
    def _prepare(self) -> None:
        """Whatever else is needed, and begin the first run."""

    @abstractmethod
    def _work(self) -> Step:
        """One block after the preparations."""

    def _timed_block(
        self, most: int, run: Callable[[int], tuple[NDArray[np.float64], int]]
    ) -> tuple[NDArray[np.float64], int, float]:
        """Call `run` with the number of iterations, at most `most`, that take about a block's time.

        Returns what it returns, the costs of the iterations and why they ended, and the seconds that it took.
        """
        if self._budget.max_iterations is not None:
            most = min(most, max(1, self._budget.max_iterations - self._iterations))
        clock = working_seconds()
        costs, why = run(min(self._block, most))
        seconds = max(working_seconds() - clock, 1e-6)
        self._block = max(1, min(10 * self._block, int(len(costs) * self._block_seconds / seconds)))
        self._iterations += len(costs)
        return costs, why, seconds

    def _set_up(self) -> None:
        if self._setup is not None:
            for _ in self._setup:
                pass
            self._setup = None

    def step(self) -> Step:
        """One stage of the preparations, or a block of work."""
        if self._setup is not None:
            if next(self._setup, True) is None:
                return Step()
            self._setup = None
        return self._work()

    def traffic(self) -> Traffic:
        """Two messages along each edge in an iteration, one number for each value; split factors send twice as many."""
        if self._setup is not None:
            return Traffic(0, 0)
        return Traffic(2 * self._iterations * self._graph.num_edges, 2 * self._iterations * self._graph.num_messages)

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages and the field of reinforcement."""
        if self._setup is not None:
            return {}
        memory = self._engine.memory
        return {"v2f messages": memory.v2f, "f2v messages": memory.f2v, "the field": memory.field}

    def close(self) -> None:
        """Close the engine with its threads."""
        if self._setup is None:
            self._engine.close()
