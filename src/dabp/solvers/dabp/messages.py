"""One iteration of DABP on padded messages: Eq. 3, beliefs, the network, Eq. 6."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from dabp.solvers.dabp.network import HIDDEN, Weights
from dabp.solvers.dabp.operations import Operations
from dabp.solvers.dabp.recurrence import gru
from dabp.solvers.dabp.structure import Structure, tensor


@dataclass(frozen=True)
class Messages:
    """What passes from one iteration to the next: v2f [E, D] and the GRUs' states [E, 8]."""

    v2f: Tensor
    hidden_v2f: Tensor
    hidden_f2v: Tensor

    def detached(self) -> Messages:
        """The same numbers, no gradient through them: the start of a window."""
        return Messages(self.v2f.detach(), self.hidden_v2f.detach(), self.hidden_f2v.detach())


@dataclass(frozen=True)
class Iteration:
    """What one iteration made: beliefs from its f2v messages, then damping and the messages for the next one."""

    beliefs: Tensor
    """[N, D], infinite beyond a domain."""
    query: Tensor
    key: Tensor
    """[F, K]: decide all weights."""
    damping: Tensor
    """[E], 0 where a variable has one factor."""
    f2v: Tensor
    messages: Messages


class Propagation:
    """Belief propagation whose damping and weights come from the network.

    Parameters
    ----------
    weights
        "learned", or "uniform": w = 1 / (degree − 1) (paper App. C.5, DABP_Heter_λ).
    damping
        "edge", or "mean": one factor, the mean over the edges (DABP_Homo_λ).
    recompute
        Keep only messages and GRU states for the backward pass, and make the rest again: a quarter more time, a tenth
        of the memory.
    """

    def __init__(
        self,
        structure: Structure,
        operations: Operations,
        device: torch.device,
        weights: str,
        damping: str,
        recompute: bool = False,
    ):
        graph = structure.graph
        self.structure, self.operations, self.weights, self.damping = structure, operations, weights, damping
        self.recompute = recompute
        self.edge_variable = tensor(graph.edge_variable, device)
        self.unary = tensor(structure.padded(graph.unary, fill=torch.inf), device)
        self.edge_unary = tensor(structure.edge_unary, device)
        self.beyond = tensor(structure.beyond, device)
        self.several = ~tensor(structure.alone, device)

    def start(self) -> Messages:
        """All messages and GRU states zero (Alg. 1, line 3)."""
        edges = self.structure.num_edges
        zeros = self.unary.new_zeros
        return Messages(zeros(edges, self.structure.width), zeros(edges, HIDDEN), zeros(edges, HIDDEN))

    def beliefs(self, f2v: Tensor) -> Tensor:
        """b_i = unary costs + Σ of f2v messages (Eq. 15)."""
        return self.unary.index_add(0, self.edge_variable, f2v)

    def iterate(self, messages: Messages, weights: Weights) -> Iteration:
        """f2v messages and beliefs from the v2f messages, then λ and w from the network, then new v2f messages.

        Messages are detached before the GRUs read them, as in the authors' program: gradients reach the network
        through λ and w of this and earlier iterations of the window only.
        """
        f2v = self.operations.f2v(messages.v2f)
        beliefs = self.beliefs(f2v)
        state = (messages.v2f, f2v, beliefs, messages.hidden_v2f, messages.hidden_f2v)
        if self.recompute and torch.is_grad_enabled():
            made = checkpoint(self._advance, weights, *state, use_reentrant=False, preserve_rng_state=False)
        else:
            made = self._advance(weights, *state)
        query, key, damping, *after = made
        return Iteration(beliefs, query, key, damping, f2v, Messages(*after))

    def _advance(
        self, weights: Weights, v2f: Tensor, f2v: Tensor, beliefs: Tensor, hidden_v2f: Tensor, hidden_f2v: Tensor
    ) -> tuple[Tensor, ...]:
        """Query, key, damping, and the messages after them."""
        hidden_v2f = gru(weights.gru_v2f, v2f, hidden_v2f)
        hidden_f2v = gru(weights.gru_f2v, f2v, hidden_f2v)
        query, key = weights.attentive(hidden_v2f, hidden_f2v, self.operations)
        damping, others = self.operations.attention(query, key, f2v)
        used = damping
        if self.weights == "uniform":
            others = beliefs[self.edge_variable].masked_fill(self.beyond, 0.0) - self.edge_unary - f2v
        if self.damping == "mean" and len(chosen := self.effective_damping(damping)):
            used = chosen[:1].expand_as(damping)
        return query, key, damping, self.operations.compose(used, v2f, others), hidden_v2f, hidden_f2v

    def effective_damping(self, damping: Tensor) -> Tensor:
        """λ where there is something to damp: at variables with several factors."""
        chosen = damping[self.several]
        return chosen.mean().expand_as(chosen) if self.damping == "mean" and len(chosen) else chosen
