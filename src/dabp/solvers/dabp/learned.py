"""What is learned: the damping factors λ and the weights w that the network infers each iteration (paper Eq. 7-13).

Both follow from a query and a key per factor and head, which `network` makes. A further learned quantity is a field of
`Learned`, made in `Inference` and used by `messages`; if its operation is heavy, `backend` gets a method for it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from dabp.solvers.dabp.backend import Backend, Held
from dabp.solvers.dabp.network import HIDDEN, PreparedNetwork
from dabp.solvers.dabp.structure import Structure, tensor


class States(NamedTuple):
    """The GRUs' states, [E, 8] each."""

    v2f: Tensor
    f2v: Tensor


class Learned(NamedTuple):
    """What the network infers in one iteration."""

    query: Tensor
    """[F, K]: with `key` it decides λ and w, heads apart."""
    key: Tensor
    damping: Tensor
    """λ, [E]; of no use where a variable has one factor."""
    others: Tensor
    """(d − 1) Σ w f2v over a variable's other factors, [E, D]: what the weights w are used for."""
    held: Held | None = None
    """The weights themselves, if this iteration uses those of an earlier one; `others` is that one's then."""


class Inference:
    """The network's part of an iteration.

    Parameters
    ----------
    weights
        "learned", or "uniform": w = 1 / (degree − 1) (paper App. C.5, DABP_Heter_λ).
    damping
        "edge", or "mean": one factor, the mean over the edges (DABP_Homo_λ).
    """

    def __init__(self, structure: Structure, backend: Backend, device: torch.device, weights: str, damping: str):
        self.backend, self.weights, self.damping = backend, weights, damping
        self.edge_variable = tensor(structure.graph.edge_variable, device)
        self.edge_unary = tensor(structure.edge_unary, device)
        self.beyond = tensor(structure.beyond, device)
        self.several = ~tensor(structure.alone, device)
        """[E]: where there is something to damp, at variables with several factors."""

    def start(self) -> States:
        """Zeros."""
        zeros, edges = self.edge_unary.new_zeros, len(self.edge_unary)
        return States(zeros(edges, HIDDEN), zeros(edges, HIDDEN))

    def __call__(
        self, network: PreparedNetwork, v2f: Tensor, f2v: Tensor, beliefs: Tensor, states: States
    ) -> tuple[Learned, States]:
        """From messages and beliefs of this iteration and the GRUs' states before it.

        Messages are detached before the GRUs read them, as in the authors' program: gradients reach the network
        through λ and w of this and earlier iterations of the window only.
        """
        step = self.backend.gru
        states = States(step(network.gru_v2f, v2f, states.v2f), step(network.gru_f2v, f2v, states.f2v))
        query, key = network.attentive(states.v2f, states.f2v, self.backend)
        damping, others = self.backend.attention(query, key, f2v)
        if self.weights == "uniform":
            others = self._sum_of_others(f2v, beliefs)
        if self.damping == "mean" and len(chosen := damping[self.several]):
            damping = chosen.mean().expand_as(damping)
        return Learned(query, key, damping, others), states

    def held(self, learned: Learned, f2v: Tensor, beliefs: Tensor) -> Learned:
        """The same λ and w on the messages of a later iteration, without the network."""
        if self.weights == "uniform":
            return learned._replace(others=self._sum_of_others(f2v, beliefs))
        held = learned.held or self.backend.hold(learned.query, learned.key)
        if held is None:
            return learned._replace(others=self.backend.attention(learned.query, learned.key, f2v)[1])
        return learned._replace(held=held)

    def new_messages(self, learned: Learned, v2f: Tensor, f2v: Tensor) -> Tensor:
        """Eq. 6."""
        if learned.held is None:
            return self.backend.compose(learned.damping, v2f, learned.others)
        return self.backend.pass_on(learned.held, learned.damping, v2f, f2v)

    def _sum_of_others(self, f2v: Tensor, beliefs: Tensor) -> Tensor:
        """Uniform weights: a belief without its unary costs and the target's own message."""
        return beliefs[self.edge_variable].masked_fill(self.beyond, 0.0) - self.edge_unary - f2v
