"""Where the nodes of a small graph go: by springs and repulsion (Fruchterman and Reingold, 1991), part by part."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def packed_layout(num_nodes: int, edges: NDArray[np.int64], *, seed: int = 0) -> NDArray[np.float64]:
    """Positions [num_nodes, 2]: each connected part by itself, the tallest first, in rows that make about a square."""
    number = np.zeros(num_nodes, dtype=np.int64)
    parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for part in _parts(num_nodes, edges):
        number[part] = np.arange(len(part))
        shape = spring_layout(len(part), number[edges[np.isin(edges[:, 0], part)]], seed=seed)
        parts.append((part, _lying(shape)))
    parts.sort(key=lambda each: (-np.ptp(each[1], axis=0)[1], each[0][0]))
    boxes = [np.ptp(shape, axis=0) + 1.0 for _, shape in parts]
    width = max([float(box[0]) for box in boxes] + [1.2 * math.sqrt(sum(float(box.prod()) for box in boxes))])
    places = np.zeros((num_nodes, 2))
    x = y = row = 0.0
    for (part, shape), (wide, high) in zip(parts, boxes, strict=True):
        if x > 0 and x + wide > width * (1 + 1e-9):
            x, y, row = 0.0, y - row, 0.0
        places[part] = shape - shape.min(axis=0) + (x, y - high + 1.0)
        x, row = x + wide, max(row, high)
    return places


def _parts(num_nodes: int, edges: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The connected parts: each node takes the least label of its neighbours until none changes."""
    label, before = np.arange(num_nodes), None
    while before is None or (label != before).any():
        before = label.copy()
        np.minimum.at(label, edges, before[edges[:, ::-1]])
    return [np.flatnonzero(label == each) for each in np.unique(label)]


def _lying(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turned so that the longest direction is across, neighbours about 1 apart."""
    if len(places) < 2:
        return np.zeros_like(places)
    middle = places - places.mean(axis=0)
    turned = middle @ np.linalg.svd(middle, full_matrices=False)[2].T
    size = max(float(np.ptp(turned, axis=0).max()), 1e-9)
    area = max(float(np.ptp(turned, axis=0).prod()), 1e-9)
    return np.asarray(turned * min(math.sqrt(len(places) / area), (len(places) - 1) / size))


def spring_layout(num_nodes: int, edges: NDArray[np.int64], *, seed: int = 0, rounds: int = 200) -> NDArray[np.float64]:
    """Positions [num_nodes, 2] of nodes that repel each other, of which every edge attracts two."""
    rng = np.random.default_rng(seed)
    places = rng.random((num_nodes, 2))
    if num_nodes < 2:
        return places
    ideal = np.sqrt(1.0 / num_nodes)
    for heat in np.linspace(0.1, 0.002, rounds):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=-1), 1e-3)
        push = (apart * (ideal**2 / distance**2)[..., None]).sum(axis=1)
        along = places[edges[:, 0]] - places[edges[:, 1]]
        pull = along * (np.linalg.norm(along, axis=-1, keepdims=True) / ideal)
        np.add.at(push, edges[:, 0], -pull)
        np.add.at(push, edges[:, 1], pull)
        push -= 0.3 * (places - places.mean(axis=0))  # keeps the ends of long parts in sight
        length = np.maximum(np.linalg.norm(push, axis=-1, keepdims=True), 1e-9)
        places += push / length * np.minimum(length, heat)
    return places
