"""Maximum cut: our annealing and tabu search beside D-Wave's, in the same CPU time, one thread.

    python -m benchmarks.max_cut --gset FOLDER --seconds 5 --seeds 3
    python -m benchmarks.max_cut --gset FOLDER --seconds 20 --graph G32

FOLDER has files of the Gset as ``G1.txt.xz`` (a line ``n m``, then ``i j weight`` from 1); without it only the fresh
graphs are run. The peer is ``pip install dwave-samplers``. Limits are CPU time, so that a busy machine changes nothing.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget


class Graph(NamedTuple):
    """Edges with weights; `known` is the best cut published, None for a fresh graph."""

    vertices: int
    edges: NDArray[np.int64]
    weights: NDArray[np.float64]
    known: float | None = None

    def cut(self, side: NDArray[Any]) -> float:
        """The weight of the edges between the two sides."""
        return float(self.weights[side[self.edges[:, 0]] != side[self.edges[:, 1]]].sum())

    def problem(self) -> Problem:
        """As a minimisation over binary variables."""
        count = len(self.weights)
        tables = np.outer(-self.weights, [0.0, 1.0, 1.0, 0.0]).ravel()
        offsets = np.arange(count + 1)
        return Problem(np.full(self.vertices, 2), self.edges.ravel(), 2 * offsets, tables, 4 * offsets)


KNOWN = {"G1": 11624.0, "G11": 564.0, "G32": 1410.0}
"""The best cuts in the literature."""


def read_gset(path: Path, known: float) -> Graph:
    """A file of the Gset."""
    with lzma.open(path, "rt") as file:
        numbers = np.array(file.read().split(), dtype=np.int64)
    lines = numbers[2:].reshape(-1, 3)
    return Graph(int(numbers[0]), lines[:, :2] - 1, lines[:, 2].astype(float), known)


def torus(rows: int, columns: int, weights: NDArray[np.float64]) -> Graph:
    """A toroidal grid."""
    at = np.arange(rows * columns).reshape(rows, columns)
    edges = [np.stack([at, np.roll(at, -1, axis)], axis=-1).reshape(-1, 2) for axis in (1, 0)]
    return Graph(rows * columns, np.concatenate(edges), weights)


def random_graph(vertices: int, edges: int, seed: int) -> Graph:
    """So many different edges of weight 1, drawn uniformly."""
    pairs = np.array(list(itertools.combinations(range(vertices), 2)))
    chosen = np.random.default_rng(seed).choice(len(pairs), edges, replace=False)
    return Graph(vertices, pairs[chosen], np.ones(edges))


def graphs(gset: Path | None) -> dict[str, Graph]:
    """The published graphs there are, and fresh ones."""
    rng = np.random.default_rng(20261116)
    found = {} if gset is None else {name: read_gset(gset / f"{name}.txt.xz", cut) for name, cut in KNOWN.items()}
    return {
        **found,
        "torus ±1, 2,000": torus(40, 50, rng.choice([-1.0, 1.0], 4000)),
        "torus normal, 2,000": torus(40, 50, rng.normal(size=4000)),
        "torus ±1, 10,000": torus(100, 100, rng.choice([-1.0, 1.0], 20_000)),
        "random, 800, degree 48": random_graph(800, 19_176, 1),
        "random, 2,000, degree 10": random_graph(2000, 10_000, 2),
    }


class CpuClock:
    """What a schedule reads its horizon from: the time of this process alone."""

    def __init__(self) -> None:
        self._start = time.process_time()

    @property
    def now(self) -> float:
        """Seconds of CPU time so far."""
        return max(time.process_time() - self._start, 1e-9)


def ours(solver: str) -> Callable[[Graph, float, int], float]:
    """One of our solvers."""

    def run(graph: Graph, seconds: float, seed: int) -> float:
        problem = graph.problem()
        start = time.process_time()
        with mock.patch("dabp.solvers.local_search.annealing.Clock", CpuClock):
            search = make_solver(solver).start(problem, seed=seed, budget=Budget(time_limit=seconds))
        best, cost = np.zeros(graph.vertices), np.inf
        while time.process_time() - start < seconds:
            step = search.step()
            if step.best is not None and step.best_cost < cost:
                best, cost = step.best, step.best_cost
        return graph.cut(best)

    return run


def dwave_annealing(graph: Graph, seconds: float, seed: int) -> float:
    """Half of the time one long read, the other half reads of a tenth of its length."""
    from dwave.samplers import SimulatedAnnealingSampler

    bqm = _model(graph)
    sampler = SimulatedAnnealingSampler()

    def read(sweeps: int, number: int) -> float:
        sample = sampler.sample(bqm, num_reads=1, num_sweeps=sweeps, seed=1000 * seed + number)
        return graph.cut(_side(sample, graph.vertices))

    start = time.process_time()
    best = read(100, 0)
    sweeps = max(100, int(100 * seconds / 2 / (time.process_time() - start)))
    for number in itertools.count(1):
        best = max(best, read(sweeps if number == 1 else max(100, sweeps // 10), number))
        if time.process_time() - start >= seconds:
            return best
    raise AssertionError


def dwave_tabu(graph: Graph, seconds: float, seed: int) -> float:
    """Calls that would take the time if the machine were idle, each from the best so far, until it is used up."""
    from dwave.samplers import TabuSampler

    bqm = _model(graph)
    start, best, states = time.process_time(), -np.inf, None
    for number in itertools.count():
        sample = TabuSampler().sample(
            bqm,
            num_reads=1,
            timeout=int(1000 * seconds),
            num_restarts=10**9,
            seed=1000 * seed + number,
            initial_states=states,
        )
        cut = graph.cut(_side(sample, graph.vertices))
        if cut > best:
            best, states = cut, sample
        if time.process_time() - start >= seconds:
            return best
    raise AssertionError


def _model(graph: Graph) -> Any:
    import dimod

    couplings = {(int(a), int(b)): float(w) for (a, b), w in zip(graph.edges, graph.weights, strict=True)}
    return dimod.BinaryQuadraticModel.from_ising(dict.fromkeys(range(graph.vertices), 0.0), couplings)


def _side(sample: Any, vertices: int) -> NDArray[Any]:
    side = np.zeros(vertices)
    side[list(sample.variables)] = sample.record.sample[0]
    return side


RUNS = {
    "annealing": ours("annealing"),
    "tabu": ours("tabu"),
    "D-Wave annealing": dwave_annealing,
    "D-Wave tabu": dwave_tabu,
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gset", type=Path, help="folder with files of the Gset")
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU time of a run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graph", action="append", default=[], help="only this one; may be given several times")
    arguments = parser.parse_args()
    chosen = {k: g for k, g in graphs(arguments.gset).items() if not arguments.graph or k in arguments.graph}
    warm = torus(4, 4, np.ones(32))
    for run in RUNS.values():  # compiled, imported
        run(warm, 0.01, 0)
    print(f"{arguments.seconds:g} s of CPU time a run, seeds 0 to {arguments.seeds - 1}: mean cut (each)\n")
    print(f"| graph | best known | {' | '.join(RUNS)} | ours to D-Wave's better |")
    print("| --- |" * 1 + " --- |" * (len(RUNS) + 2))
    for name, graph in chosen.items():
        cuts = {key: [run(graph, arguments.seconds, s) for s in range(arguments.seeds)] for key, run in RUNS.items()}
        means = {key: statistics.mean(values) for key, values in cuts.items()}
        ratio = max(means["annealing"], means["tabu"]) / max(means["D-Wave annealing"], means["D-Wave tabu"])
        cells = [f"{means[key]:.6g} ({', '.join(f'{c:.6g}' for c in cuts[key])})" for key in RUNS]
        known = "–" if graph.known is None else f"{graph.known:g}"
        print(f"| {name} | {known} | {' | '.join(cells)} | {ratio:.5f} |", flush=True)


if __name__ == "__main__":
    main()
