"""What an observer of DABP gets of each iteration: λ and w of every edge, the GRUs' states, loss and bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.solvers.dabp.loss import Array, entropy, probabilities, theorem1_bound

if TYPE_CHECKING:
    from dabp.solvers.dabp.alg1 import DabpSearch
    from dabp.solvers.dabp.structure import Structure
    from dabp.solvers.dabp.window import Window


class Inferred(NamedTuple):
    """λ [E] and w [P] of an iteration, in the orders of `Observation`."""

    damping: Array
    weights: Array


class Observation(NamedTuple):
    """One iteration. An edge joins a variable to a factor; each copy of a split factor has edges of its own."""

    restart: int
    iteration: int
    """Of this restart, from 0."""
    cost: float
    """Of the decoded assignment, in the problem's units."""
    loss: float
    """Eq. 14, in scaled units."""
    entropy: float
    """Of the beliefs, mean over the variables, in bits."""
    bound_theorem1: float
    """No smaller than |smoothed cost − cost|, in the problem's units; costs that are forbidden are left out."""
    edge_variable: NDArray[np.int64]
    """[E]"""
    edge_factor: NDArray[np.int64]
    """[E]: number of the factor, copies of split factors counted."""
    damping: Array
    """λ of each edge, [E]; 0 where the variable has no other factor."""
    weight_edge: NDArray[np.int64]
    """[P]: the edge whose v2f message a weight is for."""
    weight_neighbour: NDArray[np.int64]
    """[P]: the edge whose f2v message it weighs."""
    weights: Array
    """w, [P]; the weights of an edge add up to 1."""
    hidden_v2f: Array
    """State of the GRU that reads v2f messages, [E, 8]."""
    hidden_f2v: Array
    """State of the GRU that reads f2v messages, [E, 8]."""


def pairs(edges: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of variables' edges [variables, d]: the edge and the neighbour of each weight, d (d − 1) for a variable."""
    apart = ~np.eye(edges.shape[1], dtype=bool)
    targets, neighbours = np.broadcast_arrays(edges[:, :, None], edges[:, None, :])
    return targets[:, apart].ravel(), neighbours[:, apart].ravel()


def weights_of(structure: Structure, heads: int, terms: Array) -> Array:
    """W of Eq. 11 and 13 from the terms of Eq. 10, [F, 2K], in the order of `pairs` by degree."""
    found = [np.zeros(0, terms.dtype)]
    for edges in structure.edges_by_degree:
        if edges.shape[1] < 2:
            continue
        near = terms[structure.edge_factor[edges]]  # [variables, d, 2K]
        scores = near[:, :, None, :heads] + near[:, None, :, heads : 2 * heads]
        powers = np.exp(1.0 / (1.0 + np.exp(-scores)))
        apart = ~np.eye(edges.shape[1], dtype=bool)
        powers *= apart[:, :, None]
        found.append((powers / powers.sum(axis=2, keepdims=True)).mean(axis=3)[:, apart].ravel())
    return np.concatenate(found)


def observation(search: DabpSearch, window: Window) -> Observation:
    """The last iteration of a window."""
    structure, problem, beliefs = search.structure, search.problem, window.beliefs[-1]
    inferred, messages = window.unrolled.inferred(), window.unrolled.messages()
    assignment, chances = window.assignments[-1], probabilities(beliefs)
    own = np.take_along_axis(chances, assignment[:, None], 1)[:, 0].astype(np.float64)
    none = np.zeros(0, dtype=np.int64)
    known = [(none, none), *(pairs(edges) for edges in structure.edges_by_degree if edges.shape[1] > 1)]
    targets, neighbours = (np.concatenate(each) for each in zip(*known, strict=True))
    return Observation(
        restart=search.place.restart,
        iteration=search.place.t + len(window.beliefs) - 1,
        cost=float(problem.cost(assignment)),
        loss=search.loss(beliefs),
        entropy=entropy(chances),
        bound_theorem1=theorem1_bound(problem, assignment, own),
        edge_variable=structure.graph.edge_variable,
        edge_factor=structure.edge_factor,
        damping=inferred.damping,
        weight_edge=targets,
        weight_neighbour=neighbours,
        weights=inferred.weights,
        hidden_v2f=messages.hidden_v2f,
        hidden_f2v=messages.hidden_f2v,
    )
