"""The plain way to compute DABP: Eq. 6-16 of the paper in PyTorch, one function for each equation, on any device.

Read this first. Nothing is folded, fused or approximated, and PyTorch makes the gradients; `compiled` gives the same
numbers faster. E edges, F factors (copies counted), N variables, D the largest domain, d a variable's degree, K heads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import leaky_relu, pad
from torch.utils.checkpoint import checkpoint

from dabp.solvers.dabp.loss import ENTROPY_SHIFT, ENTROPY_WEIGHT, Array
from dabp.solvers.dabp.observation import Inferred
from dabp.solvers.dabp.parameters import ATTENTION_SLOPE, COLORS, LAYERS, NODE_TYPES, OUTPUT_SLOPE, Parameters
from dabp.solvers.dabp.structure import Structure
from dabp.solvers.dabp.window import Backend, Iteration, Messages, Unrolled

Theta = dict[str, Tensor]  # the network's parameters by name


class Graph:
    """The split factor graph as tensors; the network's nodes are factors, v2f messages, variables, f2v messages."""

    def __init__(self, structure: Structure, device: torch.device):
        graph = structure.graph

        def tensor(array: NDArray[np.generic]) -> Tensor:
            return torch.from_numpy(np.array(array)).to(device)

        self.structure, self.device = structure, device
        self.unary, self.inside = tensor(structure.padded(graph.unary)), tensor(structure.domain_mask)  # [N, D]
        self.edge_variable, self.edge_factor = tensor(graph.edge_variable), tensor(structure.edge_factor)
        self.alone = tensor(structure.alone)  # [E]: whether the variable has no other factor
        self.tables = [(tensor(group.tables[group.table_index]), tensor(group.scope)) for group in graph.groups]
        self.scales = torch.tensor(graph.scales, dtype=self.unary.dtype, device=device)
        self.colors = tensor(structure.colors.clip(max=COLORS - 1))
        self.source, self.target = (tensor(nodes) for nodes in structure.arcs)
        self.neighbourhoods = [tensor(edges) for edges in structure.edges_by_degree if edges.shape[1] > 1]
        sizes = structure.num_factors, structure.num_edges, graph.num_variables, structure.num_edges
        self.kinds = tensor(np.eye(NODE_TYPES, dtype=graph.dtype)[np.repeat([1, 2, 0, 3], sizes)])  # one-hots


class Learned(NamedTuple):
    """What the network infers: λ and, for each of `Graph.neighbourhoods`, w of every target and neighbour."""

    damping: Tensor  # [E]; 0 where a variable has one factor
    weights: list[Tensor]  # [variables, d, d]; 0 on the diagonal


def factor_to_variable(graph: Graph, v2f: Tensor) -> Tensor:
    """Eq. 3, μ_{f→x}: min over the other variables of table + their messages; [E, D] → [E, D]."""
    made = []
    for group, (tables, _) in zip(graph.structure.graph.groups, graph.tables, strict=True):
        arity, shape = group.arity, group.shape
        costs = (tables[:, None] * graph.scales.view(1, -1, *[1] * arity)).flatten(0, 1)
        heard = v2f[group.first : group.first + len(costs) * arity].view(len(costs), arity, -1)
        messages = [heard[:, p, :size].view(-1, *[1] * p, size, *[1] * (arity - 1 - p)) for p, size in enumerate(shape)]
        for own, size in enumerate(shape):
            total = costs + sum(messages[other] for other in range(arity) if other != own)
            least = total.movedim(1 + own, 1).flatten(2).min(2).values
            made.append(pad(least, (0, v2f.shape[1] - size)))
        made[-arity:] = [torch.stack(made[-arity:], 1).flatten(0, 1)]
    return torch.cat(made)


def beliefs_of(graph: Graph, f2v: Tensor) -> Tensor:
    """b_i = unary costs + Σ of f2v messages, [N, D]; infinite beyond a domain."""
    return graph.unary.index_add(0, graph.edge_variable, f2v).masked_fill(~graph.inside, torch.inf)


def infer(graph: Graph, theta: Theta, hidden_v2f: Tensor, hidden_f2v: Tensor) -> Learned:
    """Eq. 7, w, λ = M_θ(factor graph, messages so far), which the GRU states hold."""
    count, colors = graph.structure.num_factors, theta["color_embedding"][graph.colors]
    parts = [hidden_v2f.new_zeros(count, hidden_v2f.shape[1]), hidden_v2f, colors, hidden_f2v]
    features = torch.cat([graph.kinds, torch.cat(parts)], 1)
    for number in range(len(LAYERS)):
        features = graph_attention(graph, theta, number, features)
    damping, weights = hidden_v2f.new_zeros(len(hidden_v2f)), []
    for edges in graph.neighbourhoods:
        near = features[graph.edge_factor[edges]]
        ours, theirs = checkpoint(attention, theta, near, use_reentrant=False)  # does not keep [variables, K, d, d]
        damping = damping.index_copy(0, edges.flatten(), ours.flatten())
        weights.append(theirs)
    return Learned(damping, weights)


def gru(theta: Theta, name: str, message: Tensor, hidden: Tensor) -> Tensor:
    """Eq. 8, h^t = GRU(h^{t−1}, μ^{t−1}): [E, D], [E, 8] → [E, 8]. No gradient flows through the message."""
    parts = (theta[f"{name}.{part}"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    return torch.gru_cell(message.detach(), hidden, *parts)


def graph_attention(graph: Graph, theta: Theta, number: int, features: Tensor) -> Tensor:
    """Eq. 9, e_i ← LeakyReLU(Σ_j α_ij W e_j + b), α_ij ∝ exp(LeakyReLU(a_dst·W e_i + a_src·W e_j)), for each head.

    [nodes, inputs] → [nodes, heads × channels]; the last layer averages its heads.
    """
    weight, bias, att_src, att_dst = (theta[f"layers.{number}.{p}"] for p in ("weight", "bias", "att_src", "att_dst"))
    projected = (features @ weight.T).view(len(features), *att_src.shape)
    of_source, of_target = (projected * att_src).sum(2), (projected * att_dst).sum(2)
    score = leaky_relu(of_target[graph.target] + of_source[graph.source], ATTENTION_SLOPE)
    index = graph.target[:, None].expand_as(score)
    top = torch.zeros_like(of_target).scatter_reduce(0, index, score.detach(), "amax", include_self=False)
    power = torch.exp(score - top[graph.target])
    alpha = power / torch.zeros_like(of_target).index_add(0, graph.target, power)[graph.target]
    mixed = torch.zeros_like(projected).index_add(0, graph.target, alpha[:, :, None] * projected[graph.source])
    mixed = mixed.mean(1) if number == len(LAYERS) - 1 else mixed.flatten(1)
    return leaky_relu(mixed + bias, OUTPUT_SLOPE)


def attention(theta: Theta, embedding: Tensor) -> tuple[Tensor, Tensor]:
    """λ and w from the embeddings of the factors of variables of one degree: [n, d, 16] → [n, d], [n, d, d]."""
    a = attention_scores(theta, embedding)
    return over_heads(damping_factors(a)), over_heads(neighbour_weights(a))


def attention_scores(theta: Theta, embedding: Tensor) -> Tensor:
    """Eq. 10, a_m(ℓ) = σ(W1 [W2 e_ℓ ‖ W3 e_m] + b): [n, d, 16] → [n, K, ℓ, m]. The two halves of W1 are added up."""
    query = torch.einsum("koi,ndi->nkdo", theta["query"], embedding)
    key = torch.einsum("koi,ndi->nkdo", theta["key"], embedding)
    of_query, of_key = theta["score"].chunk(2, 1)
    target, neighbour = (query * of_query[:, None]).sum(3), (key * of_key[:, None]).sum(3)
    return torch.sigmoid(target[:, :, :, None] + neighbour[:, :, None] + theta["score_bias"][:, None, None])


def neighbour_weights(a: Tensor) -> Tensor:
    """Eq. 11, w_m(ℓ) = exp(a_m(ℓ)) / Σ_{m' ≠ ℓ} exp(a_m'(ℓ)) for m ≠ ℓ: [n, K, d, d] → [n, K, d, d]."""
    itself = torch.eye(a.shape[2], dtype=torch.bool, device=a.device)
    return torch.softmax(a.masked_fill(itself, -torch.inf), 3)


def damping_factors(a: Tensor) -> Tensor:
    """Eq. 12, λ(ℓ) = exp(a_ℓ(ℓ)) / (exp(a_ℓ(ℓ)) + exp(mean of a_m(ℓ) over m ≠ ℓ)): [n, K, d, d] → [n, K, d]."""
    own = a.diagonal(dim1=2, dim2=3)
    return torch.exp(own) / (torch.exp(own) + torch.exp((a.sum(3) - own) / (a.shape[2] - 1)))


def over_heads(values: Tensor) -> Tensor:
    """Eq. 13: the mean over heads."""
    return values.mean(1)


def variable_to_factor(graph: Graph, learned: Learned, v2f: Tensor, f2v: Tensor) -> Tensor:
    """Eq. 6, μ_{x→f} = λ μ_{x→f} + (1 − λ)(unary + (d − 1) Σ_{m ≠ ℓ} w_m(ℓ) μ_{m→x}), shifted to minimum 0: [E, D]."""
    others = torch.zeros_like(f2v)
    for edges, weights in zip(graph.neighbourhoods, learned.weights, strict=True):
        others = others.index_copy(0, edges.flatten(), ((edges.shape[1] - 1) * weights @ f2v[edges]).flatten(0, 1))
    damping = learned.damping.masked_fill(graph.alone, 0.0)[:, None]
    new = damping * v2f + (1 - damping) * (graph.unary[graph.edge_variable] + others)
    inside = graph.inside[graph.edge_variable]
    return (new - new.masked_fill(~inside, torch.inf).amin(1, keepdim=True)).masked_fill(~inside, 0.0)


def smoothed_cost(graph: Graph, p: Tensor) -> Tensor:
    """Eq. 14, Σ_ℓ Σ_τ f_ℓ(τ) Π_i p_i(τ_i): every factor once, as its copies add up to it."""
    total = (graph.unary * p).sum()
    for group, (tables, scope) in zip(graph.structure.graph.groups, graph.tables, strict=True):
        for position in range(group.arity - 1, -1, -1):
            chances = p[scope[:, position], : group.shape[position]]
            tables = (tables * chances.view(len(scope), *[1] * position, -1)).sum(-1)
        total = total + tables.sum()
    return total


def probabilities(beliefs: Tensor) -> Tensor:
    """Eq. 15, p_i(τ) = exp(−b_i(τ)) / Σ exp(−b_i): [N, D]."""
    return torch.softmax(-beliefs, 1)


def loss_of(graph: Graph, effective: list[Tensor]) -> Tensor:
    """Eq. 16, the mean of Eq. 14 over the effective iterations' beliefs, and 0.1 of the mean entropy in bits."""
    chances = [probabilities(beliefs) for beliefs in effective]
    entropies = [-(p * torch.log2(p + ENTROPY_SHIFT)).sum() / len(p) for p in chances]
    losses = [smoothed_cost(graph, p) + ENTROPY_WEIGHT * bits for p, bits in zip(chances, entropies, strict=True)]
    return torch.stack(losses).mean()


class PlainBackend(Backend):
    """See `Backend`; `weights` are "learned" or "uniform", `damping` is by "edge" or its "mean" (paper App. C.5)."""

    def __init__(self, structure: Structure, weights: str, damping: str, device: str):
        self.graph, self.weights, self.damping = Graph(structure, torch.device(device)), weights, damping

    def window(self, parameters: Parameters, messages: Messages, learns: bool) -> PlainWindow:
        """Copy parameters and messages to the device."""
        return PlainWindow(self, parameters, messages, learns)

    def ablated(self, learned: Learned) -> Learned:
        """The ablations DABP_Heter_λ and DABP_Homo_λ: w = 1 / (d − 1), and one λ for all."""
        damping, weights = learned
        if self.weights == "uniform":
            weights = [(1 - torch.eye(one.shape[1]).to(one)).expand_as(one) / (one.shape[1] - 1) for one in weights]
        if self.damping == "mean" and weights:
            damping = damping[~self.graph.alone].mean().expand_as(damping)
        return Learned(damping, weights)


class PlainWindow(Unrolled):
    """An `Unrolled` whose gradients are PyTorch's."""

    def __init__(self, backend: PlainBackend, parameters: Parameters, messages: Messages, learns: bool):
        self.backend, self.graph, self.parameters, self.learns = backend, backend.graph, parameters, learns
        device = self.graph.device
        self.theta = {name: torch.tensor(one, device=device, requires_grad=learns) for name, one in parameters.items()}
        self.v2f, self.hidden_v2f, self.hidden_f2v = (torch.tensor(one, device=device) for one in messages)
        self.beliefs: list[Tensor] = []

    def iterate(self, infers: bool) -> Iteration:
        """F2v messages and beliefs, then λ and w, then v2f messages."""
        with torch.set_grad_enabled(self.learns):
            f2v = factor_to_variable(self.graph, self.v2f)
            self.beliefs.append(beliefs_of(self.graph, f2v))
            if infers:
                self.hidden_v2f = gru(self.theta, "gru_v2f", self.v2f, self.hidden_v2f)
                self.hidden_f2v = gru(self.theta, "gru_f2v", f2v, self.hidden_f2v)
                self.last = self.backend.ablated(infer(self.graph, self.theta, self.hidden_v2f, self.hidden_f2v))
            before, self.v2f = self.v2f, variable_to_factor(self.graph, self.last, self.v2f, f2v)
        return Iteration(_array(self.beliefs[-1]), float((self.v2f - before).detach().abs().max()))

    def messages(self) -> Messages:
        """Copies in the memory of the CPU."""
        return Messages(*(_array(one).copy() for one in (self.v2f, self.hidden_v2f, self.hidden_f2v)))

    def loss(self, effective: list[int]) -> float:
        """Eq. 16, kept for `gradient`."""
        self.last_loss = loss_of(self.graph, [self.beliefs[t] for t in effective])
        return float(self.last_loss.detach())

    def gradient(self) -> Parameters:
        """By the backward pass of PyTorch."""
        self.last_loss.backward()
        result = self.parameters.zeros()
        for name, value in self.theta.items():
            result[name][...] = 0.0 if value.grad is None else _array(value.grad)
        return result

    def learned(self) -> tuple[Array, float, float]:
        """λ and the range of w of the last iteration, see `Unrolled`."""
        scaled = [(one.shape[1] - 1) * one.detach() for one in self.last.weights]
        lows, highs = [float(one[one > 0].min()) for one in scaled], [float(one.max()) for one in scaled]
        return _array(self.last.damping[~self.graph.alone]), min(lows, default=1.0), max(highs, default=1.0)

    def inferred(self) -> Inferred:
        """λ and w of the last iteration, see `Unrolled`."""
        damping = self.last.damping.masked_fill(self.graph.alone, 0.0)
        weights = [one[:, ~torch.eye(one.shape[1], dtype=torch.bool, device=one.device)] for one in self.last.weights]
        return Inferred(_array(damping), _array(torch.cat([damping[:0], *(one.flatten() for one in weights)])))


def _array(value: Tensor) -> Array:
    return value.detach().cpu().numpy()
