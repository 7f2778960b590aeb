"""The compiled way to compute DABP on the CPU: Eq. 7-16 in operations on a tape.

`operations` has each operation and the push of its gradients, `folding` the parameters folded for them. Read `plain`
first: it computes the same without folding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import psutil
from numpy.typing import NDArray

from dabp.kernels.attention.attentive_messages import weight_range
from dabp.kernels.attention.gated_units import HIDDEN
from dabp.solvers.dabp.folding import Network
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.observation import Inferred, weights_of
from dabp.solvers.dabp.operations import Operations, Tape, Value
from dabp.solvers.dabp.parameters import EMBEDDING, NODE_TYPES, Parameters
from dabp.solvers.dabp.structure import Structure
from dabp.solvers.dabp.window import Backend, Iteration, Messages, Unrolled

Array = NDArray[np.floating]

ACTIVATION_BYTES = 6 * 2**30
"""A window that would keep more than this, or a quarter of the machine's memory, for its backward pass keeps messages
and states only, and computes the rest of each iteration again."""
PROJECTED_BYTES = 2**28
"""A window that keeps at most this for its backward pass keeps the projections of GAT layers as well, about as much."""


class Learned(NamedTuple):
    """What the network infers in one iteration."""

    terms: Value  # each factor's addends of Eq. 10, as a target and as a neighbour, [F, 2K]: they decide λ and w
    damping: Value  # λ, [E]; of no use where a variable has one factor


class State(NamedTuple):
    """What passes from one iteration to the next."""

    v2f: Value
    hidden_v2f: Value
    hidden_f2v: Value
    learned: Learned | None


class CompiledBackend(Backend):
    """See `Backend`; float32 or float64, and equal results for any number of threads.

    `weights` are "learned" or "uniform", `damping` is by "edge" or its "mean".
    """

    def __init__(self, structure: Structure, weights: str, damping: str, update_interval: int, threads: int = 1):
        self.structure, self.weights, self.damping = structure, weights, damping
        kept = _kept_numbers(structure) * structure.graph.dtype.itemsize * update_interval
        self.operations = Operations(structure, threads, keeps_projections=kept <= PROJECTED_BYTES)
        self.loss = Loss(structure)
        self.recompute = kept > min(ACTIVATION_BYTES, psutil.virtual_memory().total // 4)
        self.several = ~structure.alone  # [E]: edges of variables with several factors, which have λ and w

    def window(self, parameters: Parameters, messages: Messages, learns: bool) -> CompiledWindow:
        """Fold the parameters and start a tape."""
        return CompiledWindow(self, parameters, messages, learns)

    def close(self) -> None:
        """End the threads and release the memory."""
        self.operations.close()


class CompiledWindow(Unrolled):
    """An `Unrolled` whose operations are on a tape."""

    def __init__(self, backend: CompiledBackend, parameters: Parameters, messages: Messages, learns: bool):
        self.backend, self.operations = backend, backend.operations
        self.network = Network(backend.structure, parameters)
        self.tape = Tape(records=learns)
        v2f, hidden_v2f, hidden_f2v = (Value(one, constant=True) for one in messages)
        self.state = State(v2f, hidden_v2f, hidden_f2v, None)
        self.beliefs: list[Value] = []
        self.effective: list[int] = []

    def iterate(self, infers: bool) -> Iteration:
        """F2v messages and beliefs, then λ and w, then v2f messages."""
        before = self.state
        f2v = self.operations.messages(self.tape, before.v2f)
        self.beliefs.append(self.operations.beliefs(self.tape, f2v))
        if self.backend.recompute and self.tape.records:
            self.state = self._advance(Tape(records=False), infers, before, f2v)
            self.tape.append(self._again(infers, before, f2v), *_values(self.state))
        else:
            self.state = self._advance(self.tape, infers, before, f2v)
        with np.errstate(invalid="ignore", over="ignore"):
            change = float(np.abs(self.state.v2f.array - before.v2f.array).max(initial=0.0))
        return Iteration(self.beliefs[-1].array, change)

    def _advance(self, tape: Tape, infers: bool, state: State, f2v: Value) -> State:
        """The second half of an iteration: what is learned, and new v2f messages.

        The GRUs read messages as constants, as in the authors' program: gradients reach the network through λ and w
        of this and earlier iterations of the window only.
        """
        do, network, (v2f, hidden_v2f, hidden_f2v, learned) = self.operations, self.network, state
        uniform = self.backend.weights == "uniform"
        if infers or learned is None:
            hidden_v2f = do.gru(tape, network.gru_v2f, v2f.array, hidden_v2f)  # Eq. 8
            hidden_f2v = do.gru(tape, network.gru_f2v, f2v.array, hidden_f2v)
            terms = self._terms(tape, hidden_v2f, hidden_f2v)
            damping, others = do.attention(tape, network.heads, terms, f2v)  # Eq. 11-13
            if self.backend.damping == "mean":
                damping = self._mean(tape, damping)
            learned = Learned(terms, damping)
        elif not uniform:
            _, others = do.attention(tape, network.heads, learned.terms, f2v)
        if uniform:
            others = do.uniform(tape, f2v)
        new = do.compose(tape, learned.damping, v2f, others)  # Eq. 6
        return State(new, hidden_v2f, hidden_f2v, learned)

    def _terms(self, tape: Tape, hidden_v2f: Value, hidden_f2v: Value) -> Value:
        """The GAT layers (Eq. 9), and what of a factor's embedding Eq. 10 needs: [E, 8] twice → [F, 2K]."""
        structure, network = self.backend.structure, self.network
        width = len(network.layers[0].product.columns)
        features = Value(network.features(self.operations.empty((structure.num_nodes, width))))
        own = slice(NODE_TYPES, NODE_TYPES + HIDDEN)  # columns of a GRU's state, or of the colour
        states = (structure.nodes.v2f, hidden_v2f), (structure.nodes.f2v, hidden_f2v)
        for nodes, state in states:
            features.array[nodes, own] = state.array

        def push(gradient: Array) -> None:
            for nodes, state in states:
                state.receive(np.ascontiguousarray(gradient[nodes, own]))
            network.color_gradient += gradient[structure.nodes.variables, own]

        tape.append(push, features)
        for layer, count in zip(network.layers, structure.needed, strict=True):
            features = self.operations.attend(tape, features, layer, count)
        return self.operations.linear(tape, features, network.terms, network.terms_bias)

    def _mean(self, tape: Tape, damping: Value) -> Value:
        """One damping factor for all edges (paper App. C.5, DABP_Homo_λ)."""
        several = self.backend.several
        if not several.any():
            return damping
        mean = Value(np.full_like(damping.array, damping.array[several].mean()))
        share = several / damping.array.dtype.type(several.sum())
        tape.append(lambda gradient: damping.receive(gradient.sum() * share), mean)
        return mean

    def _again(self, infers: bool, before: State, f2v: Value) -> Callable[..., None]:
        """The push of a whole `_advance` that kept nothing: it is computed again, now on a tape."""

        def push(*gradients: Array | None) -> None:
            tape = Tape()
            after = self._advance(tape, infers, before, f2v)
            for value, gradient in zip(_values(after), gradients, strict=True):
                if gradient is not None:
                    value.receive(gradient)
            tape.backward()

        return push

    def messages(self) -> Messages:
        """See `Unrolled.messages`; copies, as the pool uses the arrays of a window again."""
        return Messages(*(value.array.copy() for value in self.state[:3]))

    def loss(self, effective: list[int]) -> float:
        """The mean loss in NumPy; the tape is cleared if it is not finite."""
        self.effective = effective
        with np.errstate(all="ignore"):
            value = float(np.mean([self.backend.loss(self.beliefs[t].array) for t in effective]))
        if not math.isfinite(value):
            self.tape.clear()  # this window has no backward pass
        return value

    def gradient(self) -> Parameters:
        """By the backward pass of the tape."""
        with np.errstate(all="ignore"):
            for t in self.effective:
                self.beliefs[t].receive(self.backend.loss.gradient(self.beliefs[t].array) / len(self.effective))
            self.tape.backward()
            return self.network.unfold()

    def learned(self) -> tuple[Array, float, float]:
        """λ and the range of w of the last iteration, see `Unrolled`."""
        learned = self.state.learned
        assert learned is not None
        low, high = 1.0, 1.0
        if self.backend.weights == "learned":
            low, high = weight_range(self.operations.variable_edges, self.network.heads, learned.terms.array)
        return learned.damping.array[self.backend.several], low, high

    def inferred(self) -> Inferred:
        """λ and w of the last iteration, see `Unrolled`."""
        learned, structure = self.state.learned, self.backend.structure
        assert learned is not None
        heads = self.network.heads
        uniform = self.backend.weights != "learned"  # w = 1 / (d − 1): what equal terms give
        terms = (
            np.zeros((structure.num_factors, 2 * heads), learned.damping.array.dtype)
            if uniform
            else learned.terms.array
        )
        damping = np.where(self.backend.several, learned.damping.array, 0.0)
        return Inferred(damping, weights_of(structure, heads, terms))


def _values(state: State) -> list[Value]:
    return [*state[:3], *(state.learned or ())]


def _kept_numbers(structure: Structure) -> int:
    """About how many numbers an iteration keeps for its backward pass: features, states, messages."""
    first, *others, last = structure.needed
    features = 2 * HIDDEN * structure.num_nodes + 4 * HIDDEN * (first + sum(others)) + EMBEDDING * last
    return features + structure.num_edges * (2 * HIDDEN + 4 * structure.width)
