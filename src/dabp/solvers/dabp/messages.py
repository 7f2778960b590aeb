"""One iteration of DABP on padded messages: Eq. 3, beliefs, what is learned, Eq. 6."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from dabp.solvers.dabp.backend import Backend
from dabp.solvers.dabp.learned import Inference, Learned, States
from dabp.solvers.dabp.network import PreparedNetwork
from dabp.solvers.dabp.structure import Structure, tensor


class Messages(NamedTuple):
    """What passes from one iteration to the next."""

    v2f: Tensor
    """[E, D]."""
    hidden_v2f: Tensor
    """States of the GRU that reads v2f messages, [E, 8]."""
    hidden_f2v: Tensor

    def detached(self) -> Messages:
        """The same numbers, no gradient through them: the start of a window."""
        return Messages(*(one.detach() for one in self))


class Iteration(NamedTuple):
    """What one iteration made: beliefs from its f2v messages, then what is learned, the messages for the next one."""

    f2v: Tensor
    beliefs: Tensor
    """[N, D], infinite beyond a domain."""
    learned: Learned
    messages: Messages


class Propagation:
    """Belief propagation whose damping and weights come from the network.

    Parameters
    ----------
    inference
        Makes what is learned of an iteration.
    recompute
        Keep only messages and GRU states for the backward pass, and make the rest again: more time, a tenth of the
        memory.
    """

    def __init__(
        self,
        structure: Structure,
        backend: Backend,
        device: torch.device,
        inference: Inference,
        recompute: bool = False,
    ):
        graph = structure.graph
        self.structure, self.backend, self.inference = structure, backend, inference
        self.recompute = recompute
        self.unary = tensor(structure.padded(graph.unary, fill=torch.inf), device)

    def start(self) -> Messages:
        """All messages and GRU states zero (Alg. 1, line 3)."""
        return Messages(self.unary.new_zeros(self.structure.num_edges, self.structure.width), *self.inference.start())

    def iterate(self, messages: Messages, network: PreparedNetwork, held: Learned | None = None) -> Iteration:
        """f2v messages and beliefs from the v2f messages, then λ and w from the network, then new v2f messages.

        If `held` is what an earlier iteration learned, λ and w are taken from it, and the network is not asked.
        """
        f2v = self.backend.f2v(messages.v2f)
        beliefs = self.backend.beliefs(self.unary, f2v)
        arguments = network, messages, f2v, beliefs, held
        if self.recompute and torch.is_grad_enabled():
            made = checkpoint(self._advance, *arguments, use_reentrant=False, preserve_rng_state=False)
        else:
            made = self._advance(*arguments)
        return Iteration(f2v, beliefs, *made)

    def _advance(
        self, network: PreparedNetwork, messages: Messages, f2v: Tensor, beliefs: Tensor, held: Learned | None
    ) -> tuple[Learned, Messages]:
        """The second half of an iteration."""
        v2f, *states = messages
        after = States(*states)
        if held is None:
            learned, after = self.inference(network, v2f, f2v, beliefs, after)
        else:
            learned = self.inference.held(held, f2v, beliefs)
        return learned, Messages(self.inference.new_messages(learned, v2f, f2v), *after)
