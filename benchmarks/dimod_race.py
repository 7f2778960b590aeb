"""`DabpSampler` beside D-Wave's annealing and tabu samplers on 20 models of dimod, in the same CPU time.

    python -m benchmarks.dimod_race --seconds 5
    python -m benchmarks.dimod_race --seconds 5 --only sk

Each sampler gets the CPU time that `DabpSampler` with one thread and this time limit took, its child processes
included; a peer's best energy over all its reads counts. The peer is ``pip install dwave-samplers``.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable, Iterator

import dimod
import numpy as np

import dabp


def models() -> Iterator[tuple[str, dimod.BinaryQuadraticModel]]:
    """Twenty models of 100 to 5,000 variables: max-cut, spin glasses and random QUBO."""
    for size in (100, 500, 1000, 2000, 5000):
        rng = np.random.default_rng(size)
        edges = np.unique(np.sort(rng.integers(0, size, (6 * size, 2)), axis=1), axis=0)
        couplings = {(a, b): 1.0 for a, b in edges.tolist() if a != b}
        yield f"max-cut {size}", dimod.BinaryQuadraticModel.from_ising({}, couplings)
    for size in (100, 200, 400, 700, 1000):
        rng = np.random.default_rng(size)
        pairs = itertools.combinations(range(size), 2)
        yield f"sk {size}", dimod.BinaryQuadraticModel.from_ising({}, {pair: rng.normal() for pair in pairs})
    for side in (10, 20, 32, 50, 70):
        rng = np.random.default_rng(side)
        torus = {}
        for row, column in itertools.product(range(side), repeat=2):
            for other in (((row + 1) % side, column), (row, (column + 1) % side)):
                torus[row * side + column, other[0] * side + other[1]] = float(rng.choice([-1, 1]))
        yield f"torus {side * side}", dimod.BinaryQuadraticModel.from_ising({}, torus)
    for size, share in ((100, 1.0), (500, 0.5), (1000, 0.1), (2500, 0.05), (5000, 0.01)):
        rng = np.random.default_rng(size)
        count = int(share * size * (size - 1) / 2)
        terms = {(int(a), int(b)): float(rng.integers(-100, 101)) for a, b in rng.integers(0, size, (count, 2))}
        yield f"qubo {size}", dimod.BinaryQuadraticModel.from_qubo(terms)


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def repeated(read: Callable[[int], dimod.SampleSet], seconds: float) -> float:
    """The least energy of reads until the CPU time is used up."""
    start, best = cpu(), np.inf
    for number in itertools.count():
        best = min(best, read(number).first.energy)
        if cpu() - start >= seconds:
            break
    return float(best)


def annealing(bqm: dimod.BinaryQuadraticModel, seconds: float) -> float:
    """Half of the time one long read, then reads of a tenth of its length."""
    from dwave.samplers import SimulatedAnnealingSampler

    sampler, start = SimulatedAnnealingSampler(), cpu()
    first = sampler.sample(bqm, num_reads=1, num_sweeps=200, seed=0).first.energy
    sweeps = max(200, int(100 * seconds / max(cpu() - start, 0.005)))
    lengths = itertools.chain([sweeps], itertools.repeat(max(100, sweeps // 10)))
    left = seconds - (cpu() - start)
    return min(
        float(first),
        repeated(lambda n: sampler.sample(bqm, num_reads=1, num_sweeps=next(lengths), seed=n + 1), left),
    )


def tabu(bqm: dimod.BinaryQuadraticModel, seconds: float) -> float:
    """Reads of a fifth of the time."""
    from dwave.samplers import TabuSampler

    sampler = TabuSampler()
    return repeated(lambda n: sampler.sample(bqm, num_reads=1, timeout=int(200 * seconds), seed=n), seconds)


def main() -> None:
    """Print a row per model, and how often our energy is at or below both peers'."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit of DabpSampler")
    parser.add_argument("--only", default="", help="models whose name begins so")
    options = parser.parse_args()
    dabp.DabpSampler().sample(next(models())[1], time_limit=3.0)  # loads kernels
    reached = count = 0
    for name, bqm in models():
        if not name.startswith(options.only):
            continue
        start = cpu()
        ours = dabp.DabpSampler().sample(bqm, time_limit=options.seconds, threads=1).first.energy
        spent = max(cpu() - start, 0.1)
        peers = annealing(bqm, spent), tabu(bqm, spent)
        good = ours <= min(peers) + 1e-6 * abs(min(peers))
        reached, count = reached + good, count + 1
        print(
            f"{name:14s} dabp {ours:14.3f}   D-Wave annealing {peers[0]:14.3f}   tabu {peers[1]:14.3f}   "
            f"{spent:5.1f} s of CPU   {'at or below' if good else 'above'}",
            flush=True,
        )
    print(f"at or below both: {reached} of {count}")


if __name__ == "__main__":
    main()
