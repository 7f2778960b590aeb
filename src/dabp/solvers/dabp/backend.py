"""What the network and the messages need of a factor graph: the heavy operations of an iteration.

backend_cpu.py does them with compiled kernels, backend_torch.py with PyTorch on any device, a GPU's too; tests compare
the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from dabp.kernels.attention.hub_attention import HEADS
from dabp.solvers.dabp.recurrence import Cell, gru

ATTENTION_SLOPE = 0.2
"""LeakyReLU inside the scores of a GAT layer."""
OUTPUT_SLOPE = 0.01
"""LeakyReLU on the output of a GAT layer."""


class Layer(NamedTuple):
    """A GAT layer as a backend takes it; gradients of its parameters gather here."""

    matrix: Tensor
    """W, then the rows Wᵀa_src of each head, then Wᵀa_dst: scores come with the projection; [heads × (channels + 2),
    inputs]."""
    bias: Tensor
    """[outputs]; heads are averaged if these are as many as a head has channels, concatenated otherwise."""

    @property
    def channels(self) -> int:
        """Of a head."""
        return len(self.matrix) // HEADS - 2

    @property
    def averages(self) -> bool:
        """Whether heads are averaged."""
        return len(self.bias) == self.channels


@dataclass
class Held:
    """Weights that several iterations use."""

    weights: Tensor
    """w × (d − 1) of every target and neighbour, laid out as the backend likes."""
    gradient: Tensor | None = None
    """The sum of their gradients, on the way back."""


class Backend(ABC):
    """The heavy operations, each with a gradient."""

    @abstractmethod
    def attend(self, features: Tensor, layer: Layer, count: int) -> Tensor:
        """A GAT layer for the first `count` nodes (Eq. 9): [n, inputs] → [count, outputs]; see `network`."""

    @abstractmethod
    def f2v(self, v2f: Tensor) -> Tensor:
        """Factor→variable messages, min over the other variables of table + their messages (Eq. 3): [E, D] → [E, D]."""

    @abstractmethod
    def beliefs(self, unary: Tensor, f2v: Tensor) -> Tensor:
        """b_i = unary costs + Σ of f2v messages (Eq. 15): [N, D], [E, D] → [N, D]; no gradient flows to the costs."""

    @abstractmethod
    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """Damping factors and weighted sums, averaged over heads (Eq. 10-13).

        With a_m(ℓ) = σ(query_ℓ + key_m) per head and d the variable's degree: λ_ℓ = σ(a_ℓ(ℓ) − mean over m ≠ ℓ of
        a_m(ℓ)), and (d − 1) Σ_{m ≠ ℓ} w_m(ℓ) f2v_m with w_m(ℓ) = softmax over m ≠ ℓ of a_m(ℓ). Both are 0 where d = 1.

        [F, K] twice, [E, D] → [E], [E, D].
        """

    @abstractmethod
    def compose(self, damping: Tensor, v2f: Tensor, others: Tensor) -> Tensor:
        """New messages of Eq. 6, shifted to minimum 0: λ v2f + (1 − λ)(unary + others); [E], [E, D] twice → [E, D].

        A variable with one factor has nothing to damp or weigh: it sends its unary costs, zero without any.
        """

    def gru(self, cell: Cell, inputs: Tensor, state: Tensor) -> Tensor:
        """The next state of a GRU cell, [E, D], [E, U] → [E, U]; no gradient flows to the inputs."""
        return gru(cell, inputs, state)

    def join(self, *parts: Tensor) -> Tensor:
        """Rows of equal length one below the other."""
        return torch.cat(parts)

    def linear(self, features: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
        """The rows of the matrix times the features, and the bias: [n, inputs], [outputs, inputs] → [n, outputs]."""
        return torch.addmm(bias, features, matrix.T)

    def change(self, before: Tensor, after: Tensor) -> float:
        """The largest |after − before|; no number that is below another if one of them is not finite."""
        return float((after - before).abs().max())

    def hold(self, query: Tensor, key: Tensor) -> Held | None:
        """All weights w × (d − 1), to be used again by `pass_on`; None where `attention` is the better way.

        [F, K] twice → flat blocks of the variables.
        """
        return None

    def pass_on(self, held: Held, damping: Tensor, v2f: Tensor, f2v: Tensor) -> Tensor:
        """`compose` with others = (d − 1) Σ w f2v of held weights: [E], [E, D] twice → [E, D]."""
        raise NotImplementedError

    def held_range(self, held: Held) -> tuple[float, float]:
        """Least and largest of the held weights, without those of targets themselves."""
        raise NotImplementedError

    def close(self) -> None:  # noqa: B027 - optional
        """Release what is held."""
