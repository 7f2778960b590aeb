"""Image problems as `Problem`s: those of a ``vision.py`` in a folder of instances, and grids of our own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from dabp.problem import Problem


def vision_problems(folder: Path, seed: int) -> dict[str, Problem]:
    """By name; ``vision.py`` in the folder makes the arrays (unary costs, edges, weights or tables) from a seed."""
    path = folder / "vision.py"
    spec = importlib.util.spec_from_file_location("vision", path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(f"{path} makes the vision problems, and is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: from_arrays(name, **arrays) for name, arrays in module.problems(seed).items()}


def from_arrays(
    name: str,
    unary: np.ndarray,
    edges: np.ndarray,
    weights: np.ndarray | None = None,
    kind: str = "potts",
    cap: int = 1,
    tables: np.ndarray | None = None,
    **_: Any,
) -> Problem:
    """Unary costs [n, L] and pairs [m, 2]: tables [m, L, L], or weights [m] of a Potts or truncated linear one."""
    count, labels = unary.shape
    if tables is None:
        assert weights is not None
        steps = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
        shape = np.minimum(steps, cap if kind == "truncated" else 1).astype(float)
        values, index = np.unique(weights, return_inverse=True)
        tables = values[:, None, None] * shape
    else:
        index = np.arange(len(edges))
    cells = labels * labels
    return Problem(
        np.full(count, labels),
        np.concatenate([np.arange(count), edges.ravel()]),
        np.concatenate([np.arange(count), count + 2 * np.arange(len(edges) + 1)]),
        np.concatenate([unary.ravel().astype(float), tables.ravel()]),
        np.concatenate([labels * np.arange(count), labels * count + cells * np.arange(len(tables) + 1)]),
        np.concatenate([np.arange(count), count + index]),
        name=name,
    )


def grid_edges(height: int, width: int) -> np.ndarray:
    """Pairs of neighbours to the right and below, [m, 2]."""
    number = np.arange(height * width).reshape(height, width)
    across, down = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    return np.concatenate([np.stack(pair, axis=-1).reshape(-1, 2) for pair in (across, down)])


def large_grid(kind: str, seed: int = 0, side: int = 1000, labels: int = 5) -> Problem:
    """``side`` × ``side`` variables with random unary costs; Potts, or one of 50 random tables a pair."""
    rng = np.random.default_rng(seed)
    edges = grid_edges(side, side)
    unary = rng.integers(0, 101, size=(side * side, labels))
    if kind == "potts":
        return from_arrays(f"grid-{side}-potts", unary, edges, rng.choice([20, 40], size=len(edges)))
    tables = rng.integers(0, 101, size=(50, labels, labels)).astype(float)
    plain = from_arrays(f"grid-{side}-random", unary, edges, rng.integers(50, size=len(edges)))
    pool = plain.pool.copy()
    pool[-tables.size :] = tables.ravel()
    return plain.replace(pool=pool)
