"""One problem cut over machines, on paper: what an iteration would take from what is measured here.

Machines hold consecutive pieces of the variables in reverse Cuthill-McKee order, work at the recorded time per edge,
and after each iteration send the messages of cut edges to their neighbours, all at once, as numbers of 4 bytes without
padding; a network has a latency and a bandwidth per machine. Nothing here runs on more than one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from benchmarks.scale.problems import DOMAIN, KINDS
from benchmarks.scale.records import Records

NETWORKS = {"1 Gbit, 100 µs": (0.117e9, 100e-6), "10 Gbit, 30 µs": (1.17e9, 30e-6), "100 Gbit, 3 µs": (11.7e9, 3e-6)}
"""Bytes a second and seconds of latency."""
MACHINES = (2, 4, 16)


def measurements() -> Iterator[dict[str, Any]]:
    """Grids and random graphs of three sizes."""
    for kind in ("grid", "degree 6"):
        for variables in (10**4, 10**5, 10**6):
            yield {"kind": kind, "variables": variables}


def measured(kind: str, variables: int) -> dict[str, Any]:
    """The part of the edges that is cut, and how many times faster an iteration would be."""
    problem = KINDS[kind](variables)
    pairs = problem.scope_variables.reshape(-1, 2)
    rank = _ranks(pairs, problem.num_variables)
    timed = Records().rows[f"edges {kind} bp-reinforced {variables}"]
    alone = 1e-9 * timed["ns"] * timed["edges"]
    row: dict[str, Any] = {"ms": round(1e3 * alone, 3)}
    for machines in MACHINES:
        owner = rank * machines // problem.num_variables
        first, second = owner[pairs].T
        cut = first != second
        # The factor of a cut edge lies with the first; messages go there and back.
        busiest = np.bincount(np.concatenate([first[cut], second[cut]]), minlength=machines).max(initial=0)
        sent = 4 * DOMAIN * int(busiest)
        speed = {
            name: round(alone / (alone / machines + 2 * latency + 2 * sent / bandwidth), 2)
            for name, (bandwidth, latency) in NETWORKS.items()
        }
        row[str(machines)] = {"cut": round(float(cut.mean()), 4), "kilobytes": round(2 * sent / 1e3, 1), "times": speed}
    return row


def _ranks(pairs: np.ndarray, count: int) -> np.ndarray:
    """The place of each variable in reverse Cuthill-McKee order."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    graph = coo_array((np.ones(len(both), dtype=np.int8), both.T), shape=(count, count)).tocsr()
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    return rank
