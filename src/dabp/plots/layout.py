"""Where the nodes of a small graph go: springs and repulsion (Fruchterman and Reingold, 1991)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def spring_layout(num_nodes: int, edges: NDArray[np.int64], *, seed: int = 0, rounds: int = 200) -> NDArray[np.float64]:
    """Positions [num_nodes, 2] in the unit square; every pair repels, every edge attracts."""
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
        push -= 0.3 * (places - places.mean(axis=0))  # keeps components together
        length = np.maximum(np.linalg.norm(push, axis=-1, keepdims=True), 1e-9)
        places += push / length * np.minimum(length, heat)
    span = np.maximum(np.ptp(places, axis=0), 1e-9)
    return np.asarray((places - places.min(axis=0)) / span, dtype=np.float64)
