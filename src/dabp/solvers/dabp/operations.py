"""The operations of an iteration with compiled kernels, each with the push of its gradients on a tape.

The tape is the forward pass as a list: each operation appends a function that pushes gradients from its results to its
inputs, and the backward pass calls these in reverse order. Inputs and results are kept for it; gates, scores and large
projections are computed again. Sums over rows are made in blocks of a fixed size, so that results do not depend on the
number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGroup
from dabp.kernels.attention import attentive_messages, composition, dense, gated_units, hub_attention, pair_minima
from dabp.kernels.attention.composition import Edges
from dabp.kernels.attention.gated_units import GATES, HIDDEN
from dabp.kernels.attention.hub_attention import Given, Hubs, Shape
from dabp.kernels.attention.interpolated_attention import interpolation
from dabp.kernels.attention.one_variable import Inputs, Results, VariableEdges
from dabp.kernels.attention.pair_minima import PairTables, pair_tables
from dabp.kernels.belief_propagation import min_marginals
from dabp.kernels.belief_propagation.min_marginals import Tables
from dabp.solvers.dabp.folding import Cell, Layer, Product
from dabp.solvers.dabp.parameters import ATTENTION_SLOPE, OUTPUT_SLOPE
from dabp.solvers.dabp.pool import Pool
from dabp.solvers.dabp.structure import Structure
from dabp.solvers.dabp.thread_shares import Parts, Threads, even_shares

Array = NDArray[np.floating]

PRODUCT_NANOSECONDS = 0.012
"""Of a multiplication and addition, in vectors."""


class Value:
    """An array of the forward pass and, during the backward pass, the gradient of the loss with respect to it."""

    __slots__ = ("array", "constant", "gradient")

    def __init__(self, array: Array, constant: bool = False):
        self.array, self.constant = array, constant
        self.gradient: Array | None = None

    def receive(self, gradient: Array) -> None:
        """Add a gradient, whose array this value may overwrite from now on. Constants drop it."""
        if self.constant:
            return
        if self.gradient is None:
            self.gradient = gradient
        else:
            self.gradient += gradient


class Tape:
    """The operations of a window in their order; one that does not record keeps nothing."""

    def __init__(self, records: bool = True):
        self.records = records
        self._steps: list[tuple[Callable[..., None], tuple[Value, ...]]] = []

    def append(self, push: Callable[..., None], *results: Value) -> None:
        """Record an operation: `push` takes the gradient of each result (None without one) to its inputs."""
        if self.records and not all(result.constant for result in results):
            self._steps.append((push, results))

    def backward(self) -> None:
        """Push gradients from the last operation to the first; each step is forgotten when it is done."""
        while self._steps:
            push, results = self._steps.pop()
            gradients: list[Any] = [result.gradient for result in results]
            for result in results:
                result.gradient = None
            if any(gradient is not None for gradient in gradients):
                push(*gradients)

    def clear(self) -> None:
        """Forget all operations, and the arrays that they keep."""
        self._steps.clear()


class Group(NamedTuple):
    """Factors of one shape."""

    sizes: NDArray[np.int64]  # domain sizes of their variables, [arity]
    costs: PairTables | Tables
    here: slice  # their edges
    parts: Parts  # thread shares of the factors, copies counted


class Operations:
    """The operations on one factor graph; kernels share their work among `threads`.

    Projections of GAT layers are kept for the backward pass if `keeps_projections`, and computed again otherwise.
    """

    def __init__(self, structure: Structure, threads: int = 1, keeps_projections: bool = False):
        graph = structure.graph
        self.dtype = graph.dtype
        self.threads, self.pool, self.keeps_projections = Threads(threads), Pool(), keeps_projections
        self.structure = structure
        self.variable_edges = VariableEdges(graph.variable_edge_offsets, graph.variable_edges, structure.edge_factor)
        self.interpolation = interpolation(graph.dtype)
        self.equal_domains = bool((structure.edge_size == structure.width).all())  # no entries beyond domains
        self.edges = Edges(structure.edge_size, structure.alone, structure.padded(graph.unary)[graph.edge_variable])
        self.unary = structure.padded(graph.unary, fill=np.inf)
        degrees = np.diff(graph.variable_edge_offsets)
        self.variable_parts = even_shares(1.7 * degrees.astype(np.float64) ** 2, threads)
        self.belief_parts = even_shares(0.5 * structure.width * (degrees + 1.0), threads)
        self.edge_parts = even_shares(np.full(structure.num_edges, 3.0 * structure.width), threads)
        self.hubs = _hubs(structure, threads)
        self.groups = [_group(structure, group, threads) for group in graph.groups]
        kind = graph.dtype.type
        self.slopes = kind(ATTENTION_SLOPE), kind(OUTPUT_SLOPE)
        self._row_parts: dict[tuple[int, float], Parts] = {}

    def messages(self, tape: Tape, v2f: Value) -> Value:
        """Factor→variable messages, min over the other variables of table + their messages (Eq. 3): [E, D] → [E, D]."""
        result = self.empty(v2f.array.shape)
        if not self.equal_domains:
            result[...] = 0.0
        winners = []
        for sizes, costs, here, parts in self.groups:
            if isinstance(costs, PairTables):
                best: NDArray[Any] = self.pool.empty(result[here].shape, np.dtype(np.int32))
                self.threads.run(parts, pair_minima.pair_messages, costs, v2f.array[here], result[here], best)
            else:
                best = np.zeros(result[here].shape, np.int64)
                self.threads.run(parts, min_marginals.messages, sizes, costs, v2f.array[here], result[here], best)
            winners.append(best)
        f2v = Value(result, constant=v2f.constant)

        def push(gradient: Array) -> None:
            made = self.empty(gradient.shape)
            for (sizes, costs, here, parts), best in zip(self.groups, winners, strict=True):
                if isinstance(costs, PairTables):
                    self.threads.run(parts, pair_minima.pair_gradients, costs, best, gradient[here], made[here])
                else:
                    made[here] = 0.0
                    self.threads.run(parts, min_marginals.gradients, sizes, best, gradient[here], made[here])
            v2f.receive(made)

        tape.append(push, f2v)
        return f2v

    def beliefs(self, tape: Tape, f2v: Value) -> Value:
        """b_i = unary costs + Σ of f2v messages (Eq. 15): [E, D] → [N, D]."""
        result = Value(self._sums_by_variable(self.unary, f2v.array), constant=f2v.constant)
        tape.append(lambda gradient: f2v.receive(self._rows_by_edge(gradient)), result)
        return result

    def uniform(self, tape: Tape, f2v: Value) -> Value:
        """Σ of the messages from a variable's other factors, [E, D] → [E, D]: uniform weights."""

        def of_others(messages: Array) -> Array:
            totals = self._sums_by_variable(np.zeros_like(self.unary), messages)
            return self._rows_by_edge(totals) - messages

        result = Value(of_others(f2v.array), constant=f2v.constant)
        tape.append(lambda gradient: f2v.receive(of_others(gradient)), result)
        return result

    def _sums_by_variable(self, start: Array, by_edge: Array) -> Array:
        result = np.empty_like(start)
        self.threads.run(self.belief_parts, composition.beliefs, self.variable_edges, start, by_edge, result)
        return result

    def _rows_by_edge(self, by_variable: Array) -> Array:
        result = self.empty((self.structure.num_edges, by_variable.shape[1]))
        return np.take(by_variable, self.structure.graph.edge_variable, 0, result)

    def gru(self, tape: Tape, cell: Cell, inputs: Array, state: Value) -> Value:
        """The next state of a GRU cell (Eq. 8), [E, D], [E, 8] → [E, 8]; no gradient flows to the inputs."""
        nanoseconds = 20.0 + PRODUCT_NANOSECONDS * GATES * (inputs.shape[1] + HIDDEN)  # gates and products of a row
        rows = len(inputs)
        new = Value(self.empty((rows, HIDDEN)))
        parts = self._parts_of(rows, nanoseconds)
        self.threads.run(parts, gated_units.advance, cell.columns, inputs, state.array, new.array)

        def push(gradient: Array) -> None:
            made = self.empty(gradient.shape)
            sums = self.empty((dense.blocks_of(rows), *cell.gradient.shape))
            given = cell.columns, cell.rows_of_state, inputs, state.array, gradient, made, sums
            self.threads.run(self._parts_of(rows, 2.0 * nanoseconds), gated_units.advance_backward, *given)
            cell.gradient += sums.sum(0)
            state.receive(made)

        tape.append(push, new)
        return new

    def linear(self, tape: Tape, features: Value, product: Product, bias: Array) -> Value:
        """The features times a matrix, and a bias: [n, inputs] → [n, outputs]."""
        result = Value(self.empty((len(features.array), len(bias))))
        self._project(features.array, product, result.array)
        result.array += bias
        tape.append(lambda gradient: self._project_backward(features, product, gradient), result)
        return result

    def attend(self, tape: Tape, features: Value, layer: Layer, count: int) -> Value:
        """A GAT layer for the first `count` nodes (Eq. 9), [n, inputs] → [count, outputs]."""
        result = Value(self.empty((count, len(layer.bias))))
        shape = Shape(*self.slopes, layer.lanes)
        nodes = self._projected(features, layer)
        given = nodes, shape, layer.bias, result.array
        for parts, hubs in self.hubs:
            self.threads.run(parts, hub_attention.attend, hubs, *given)
        kept = nodes if self.keeps_projections else None

        def push(gradient: Array) -> None:
            nodes = self._projected(features, layer) if kept is None else kept
            made, given = self.empty(nodes.shape), Given(gradient, result.array)
            made[...] = 0.0
            for parts, hubs in self.hubs:  # both reach the message nodes
                self.threads.run(parts, hub_attention.attend_backward, hubs, nodes, shape, given, made)
            self._project_backward(features, layer.product, made)

        tape.append(push, result)
        return result

    def _projected(self, features: Value, layer: Layer) -> Array:
        """W e, a_src·W e and a_dst·W e of every node, [nodes, heads × (channels + 2)]."""
        nodes = self.empty((len(features.array), len(layer.product.rows)))
        self._project(features.array, layer.product, nodes)
        return nodes

    def _project(self, rows: Array, product: Product, result: Array) -> None:
        parts = self._parts_of(len(rows), PRODUCT_NANOSECONDS * product.rows.size)
        self.threads.run(parts, dense.project, rows, product.columns, result)

    def _project_backward(self, features: Value, product: Product, gradient: Array) -> None:
        """Add the gradient of the product's matrix and, if the features are no constant, push theirs."""
        rows = len(features.array)
        made = self.empty((0 if features.constant else rows, product.rows.shape[1]))
        sums = self.empty((dense.blocks_of(rows), *product.gradient.shape))
        parts = self._parts_of(rows, 2 * PRODUCT_NANOSECONDS * product.rows.size)
        self.threads.run(parts, dense.project_backward, features.array, product.rows, gradient, made, sums)
        product.gradient += sums.sum(0)
        if len(made):
            features.receive(made)

    def attention(self, tape: Tape, heads: int, terms: Value, f2v: Value) -> tuple[Value, Value]:
        """Damping factors and weighted sums, averaged over heads (Eq. 11-13): λ [E] and (d − 1) Σ w f2v [E, D].

        `terms` [F, 2K and up to whole vectors] are each factor's addends of Eq. 10 as a target, then as a neighbour.
        Both results are 0 where d = 1.
        """
        damping, summed = Value(np.empty(len(f2v.array), self.dtype)), Value(self.empty(f2v.array.shape))
        inputs = Inputs(heads, terms.array, f2v.array)
        around = self.variable_edges, self.interpolation, inputs
        self.threads.run(self.variable_parts, attentive_messages.attend, *around, Results(damping.array, summed.array))

        def push(of_damping: Array | None, of_summed: Array | None) -> None:
            given = Results(
                np.zeros_like(damping.array) if of_damping is None else of_damping,
                np.zeros_like(summed.array) if of_summed is None else of_summed,
            )
            made = Inputs(heads, self.empty((len(f2v.array), terms.array.shape[1])), self.empty(f2v.array.shape))
            self.threads.run(self.variable_parts, attentive_messages.attend_backward, *around, given, made)
            of_terms = self.empty(terms.array.shape)
            for sizes, _, here, _ in self.groups:  # the edges of a factor follow each other
                by_factor = made.terms[here].reshape(-1, len(sizes), of_terms.shape[1])
                place = slice(self.structure.edge_factor[here.start], self.structure.edge_factor[here.stop - 1] + 1)
                of_terms[place] = by_factor[:, 0]
                for position in range(1, len(sizes)):
                    of_terms[place] += by_factor[:, position]
            terms.receive(of_terms)
            f2v.receive(made.f2v)

        tape.append(push, damping, summed)
        return damping, summed

    def compose(self, tape: Tape, damping: Value, v2f: Value, others: Value) -> Value:
        """New messages of Eq. 6, shifted to minimum 0: λ v2f + (1 − λ)(unary + others); [E], [E, D] twice → [E, D].

        A variable with one factor has nothing to damp or weigh: it sends its unary costs, zero without any.
        """
        new = Value(self.empty(v2f.array.shape))
        given = composition.Parts(damping.array, v2f.array, others.array)
        self.threads.run(self.edge_parts, composition.compose, self.edges, given, new.array)

        def push(gradient: Array) -> None:
            made = composition.Parts(*(self.empty(part.shape) for part in given))
            arguments = self.edges, given, new.array, gradient, made
            self.threads.run(self.edge_parts, composition.compose_backward, *arguments)
            for value, part in zip((damping, v2f, others), made, strict=True):
                value.receive(part)

        tape.append(push, new)
        return new

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array for a result, from the pool."""
        return self.pool.empty(shape, self.dtype)

    def close(self) -> None:
        """End the threads, give memory back."""
        self.threads.close()
        self.pool.clear()

    def _parts_of(self, rows: int, nanoseconds: float) -> Parts:
        """Thread shares of blocks of rows, given the nanoseconds of a row."""
        key = rows, nanoseconds
        if key not in self._row_parts:
            blocks = dense.blocks_of(rows)
            self._row_parts[key] = even_shares(np.full(blocks, nanoseconds * dense.ROWS), self.threads.count)
        return self._row_parts[key]


def _hubs(structure: Structure, threads: int) -> list[tuple[Parts, Hubs]]:
    """Factors and variables as hubs of their edges, with thread shares."""
    graph = structure.graph
    variables, factors, v2f, f2v = (nodes.start for nodes in structure.nodes)
    both = (
        Hubs(factors, structure.factor_offsets, np.arange(structure.num_edges), v2f, f2v),
        Hubs(variables, graph.variable_edge_offsets, graph.variable_edges, f2v, v2f),
    )
    return [(even_shares(50.0 * (np.diff(hubs.offsets) + 1.0), threads), hubs) for hubs in both]


def _group(structure: Structure, group: FactorGroup, threads: int) -> Group:
    """A group of factors as its kernel takes it."""
    graph = structure.graph
    count = group.num_factors * len(graph.scales)
    scales = np.array(graph.scales, dtype=graph.dtype)
    if group.arity == 2:
        costs: PairTables | Tables = pair_tables(group.tables, group.table_index, scales)
    else:
        costs = Tables(group.tables.reshape(len(group.tables), -1), group.table_index, scales)
    return Group(
        np.array(group.shape),
        costs,
        slice(group.first, group.first + count * group.arity),
        even_shares(np.full(count, float(math.prod(group.shape))), threads),
    )
