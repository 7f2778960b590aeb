"""The heavy operations with compiled kernels on the CPU.

Work is shared among threads by variables, factors or edges, each of which writes its own part: results do not depend
on their number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dabp.graph import FactorGroup
from dabp.kernels.attention.chebyshev import cosines, half_ranges
from dabp.solvers.dabp.functions import Attention, Composition, GraphAttention, MinMarginals
from dabp.solvers.dabp.operations import Operations
from dabp.solvers.dabp.structure import Structure

Parts = list[tuple[int, int]]
"""First and last (excluded) item of each thread's share."""
SHORT = 5e4
"""Nanoseconds: waking a thread for less than this takes longer than the work."""


class CompiledOperations(Operations):
    """See `Operations`; `threads` kernels run at once."""

    def __init__(self, structure: Structure, threads: int = 1):
        graph = structure.graph
        self.structure, self.threads = structure, threads
        self.pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self.edge_factor = torch.from_numpy(structure.edge_factor)
        self.buffers: dict[tuple[str, torch.dtype], Tensor] = {}
        degrees = np.diff(graph.variable_edge_offsets)
        self.shares = even_shares(1.7 * degrees.astype(np.float64) ** 2, threads)
        self.hubs, self.groups = _hubs(structure, threads), _groups(structure, threads)
        kind = graph.dtype
        self.edges = (
            graph.variable_edge_offsets,
            graph.variable_edges,
            structure.edge_factor,
            half_ranges(kind),
            cosines(kind),
        )
        self.scales = np.array(graph.scales, dtype=graph.dtype)
        self.rows = even_shares(np.full(structure.num_edges, 3.0 * structure.width), threads)
        self.messages = (structure.edge_size, structure.alone, structure.edge_unary)

    def run(self, *jobs: tuple[Any, ...]) -> None:
        """Call ``kernel(first, last, *arguments)`` of each job ``(parts, kernel, *arguments)`` for each of its parts.

        A thread takes its part of every job; jobs that are given together must not wait for each other.
        """
        waiting = []
        for turn in range(1, max(len(parts) for parts, *_ in jobs)):
            assert self.pool is not None
            waiting.append(self.pool.submit(_turn, turn, jobs))
        _turn(0, jobs)
        for future in waiting:
            future.result()

    def buffer(self, name: str, shape: Sequence[int], like: Tensor) -> Tensor:
        """Room of this shape that is used again: fresh memory costs more than what is computed into it."""
        kept, length = self.buffers.get((name, like.dtype)), math.prod(shape)
        if kept is None or len(kept) < length:
            kept = self.buffers[name, like.dtype] = like.new_empty(length)
        return kept[:length].view(*shape)

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    def attend(self, features: Tensor, weight: Tensor, folded: Tensor, bias: Tensor, count: int) -> Tensor:
        """See `Operations.attend`."""
        result: Tensor = GraphAttention.apply(features, weight, folded, bias, count, self)  # type: ignore[no-untyped-call]
        return result

    def f2v(self, v2f: Tensor) -> Tensor:
        """See `Operations.f2v`."""
        result: Tensor = MinMarginals.apply(v2f, self)  # type: ignore[no-untyped-call]
        return result

    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """See `Operations.attention`."""
        result: tuple[Tensor, Tensor] = Attention.apply(query, key, f2v, self)  # type: ignore[no-untyped-call]
        return result

    def compose(self, damping: Tensor, v2f: Tensor, others: Tensor) -> Tensor:
        """See `Operations.compose`."""
        result: Tensor = Composition.apply(damping, v2f, others, self)  # type: ignore[no-untyped-call]
        return result


def _turn(turn: int, jobs: Iterable[tuple[Any, ...]]) -> None:
    for parts, kernel, *arguments in jobs:
        if turn < len(parts):
            kernel(*parts[turn], *arguments)


def even_shares(work: NDArray[np.float64], threads: int) -> Parts:
    """Consecutive parts of about equal work, at most as many as threads; fewer if that would make them short.

    `work` is about nanoseconds, measured on random COPs with 60 variables.
    """
    total = np.concatenate([[0.0], np.cumsum(work)])
    count = int(np.clip(total[-1] / SHORT, 1, threads))
    bounds = np.searchsorted(total, np.linspace(0.0, total[-1], count + 1))
    bounds[0], bounds[-1] = 0, len(work)
    return [(first, last) for first, last in pairwise(bounds.tolist()) if last > first]


def _hubs(structure: Structure, threads: int) -> list[tuple[Parts, tuple[Any, ...]]]:
    """Factors and variables as hubs of their edges: thread shares, and where `hub_attention` finds everything."""
    graph, edges = structure.graph, structure.num_edges
    v2f, variable = structure.num_factors, structure.num_factors + edges
    f2v = variable + structure.num_variables
    factor_offsets = np.searchsorted(structure.edge_factor, np.arange(structure.num_factors + 1))
    result: list[tuple[Parts, tuple[Any, ...]]] = []
    for hubs, offsets, members, inward, outward in (
        (0, factor_offsets, np.arange(edges), v2f, f2v),
        (variable, graph.variable_edge_offsets, graph.variable_edges, f2v, v2f),
    ):
        parts = even_shares(50.0 * (np.diff(offsets) + 1.0), threads)
        result.append((parts, (hubs, offsets, members, inward, outward)))
    return result


def _groups(structure: Structure, threads: int) -> list[tuple[FactorGroup, slice, Parts]]:
    """Each group of factors with its edges and thread shares."""
    result = []
    for group in structure.graph.groups:
        count = group.num_factors * len(structure.graph.scales)
        here = slice(group.first, group.first + count * group.arity)
        result.append((group, here, even_shares(np.full(count, float(math.prod(group.shape))), threads)))
    return result
