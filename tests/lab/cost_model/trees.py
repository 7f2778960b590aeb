"""A problem that is one pseudo-tree, the same as a subtree, and a model in which every nonlinearity matters."""

from __future__ import annotations

import numpy as np
import torch

from dabp.lab.cost_model.microstructure import Subtree
from dabp.lab.cost_model.network import CostModel
from dabp.problem import Problem
from dabp.problem.columns import offsets_of


def tree_problem(rng: np.random.Generator) -> tuple[Problem, Subtree]:
    """Six variables of mixed domains, the pseudo-tree 0-1-2-3 with 0-2, 1-3, 0-4, 4-5; most with unary costs."""
    sizes = rng.integers(2, 6, size=6)
    edges = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 4), (4, 5)]
    tables = [rng.integers(101, size=(sizes[i], sizes[j])).astype(float) for i, j in edges]
    unary = {i: rng.integers(400, size=sizes[i]).astype(float) for i in (0, 1, 3, 4)}
    scopes = [*edges, *((i,) for i in unary)]
    pools = [t.ravel() for t in tables] + list(unary.values())
    problem = Problem(
        sizes,
        np.concatenate([np.array(s) for s in scopes]),
        offsets_of([len(s) for s in scopes]),
        np.concatenate(pools),
        offsets_of([len(p) for p in pools]),
    )
    subtree = Subtree(
        sizes,
        tuple((unary[i] / 100).astype(np.float32) if i in unary else None for i in range(6)),
        np.array([j for _, j in edges]),
        np.array([i for i, _ in edges]),
        tuple((t.T / 100).astype(np.float32) for t in tables),
    )
    return problem, subtree


def large_model(seed: int) -> CostModel:
    """A model with parameters large enough that every nonlinearity matters."""
    torch.manual_seed(seed)
    model = CostModel()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5).add_(0.1 * torch.randn_like(parameter))
    return model


def pairwise(rng: np.random.Generator, n: int = 12, domain: int = 4, extra: int = 14) -> Problem:
    """A connected random graph with costs 0..100."""
    edges = {(int(rng.integers(i)), i) for i in range(1, n)}
    while len(edges) < n - 1 + extra:
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        edges.add((i, j))
    scopes = np.array(sorted(edges)).ravel()
    cells = rng.integers(101, size=len(edges) * domain**2)
    return Problem(
        np.full(n, domain),
        scopes,
        2 * np.arange(len(edges) + 1),
        cells,
        domain**2 * np.arange(len(edges) + 1),
    )
