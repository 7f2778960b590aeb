"""Speed and memory of DABP: beside a plain PyTorch Geometric version, and as problems grow.

    python -m benchmarks.dabp                # everything
    python -m benchmarks.dabp speed          # only the comparison at 60 and 100 variables
    python -m benchmarks.dabp growth         # only the growth table
    python -m benchmarks.dabp speed 1        # on one thread; CPU time then does not depend on what else runs

Each measurement is a process of its own, so that peak memory is that of one contestant.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from unittest import mock

import numpy as np

LENGTH = 20


def main(what: str = "all", threads: str = "2") -> None:
    """Print the tables."""
    if what in ("all", "speed"):
        measure("check")
        print("| variables | contestant | ms an iteration | CPU ms | peak memory, GB | ratio | CPU ratio |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for variables in (60, 100):
            ours, plain = measure("ours", variables, threads), measure("plain", variables, threads)
            for name, row in (("ours", ours), ("plain PyTorch Geometric", plain)):
                ratios = f"{row['ms'] / ours['ms']:.1f} | {row['cpu'] / ours['cpu']:.1f}"
                numbers = f"{row['ms']:.1f} | {row['cpu']:.1f} | {row['memory']:.2f}"
                print(f"| {variables} | {name} | {numbers} | {ratios} |", flush=True)
    if what in ("all", "growth"):
        print("\n| problem | edges (split) | ms an iteration | CPU ms | CPU ms per 1,000 edges | peak memory, GB |")
        print("| --- | --- | --- | --- | --- | --- |")
        for kind, size in (("sparse", 1250), ("sparse", 5000), ("sparse", 20000), ("star", 2000), ("scale-free", 5000)):
            row = measure(kind, size, threads)
            numbers = f"{row['ms']:.1f} | {row['cpu']:.1f} | {1000 * row['cpu'] / row['edges']:.2f}"
            print(f"| {kind} {size:,} | {row['edges']:,} | {numbers} | {row['memory']:.2f} |", flush=True)


def measure(contestant: str, size: int = 0, threads: str = "1") -> dict[str, float]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.dabp", "measure", contestant, str(size), threads]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured(contestant: str, size: int, threads: int) -> dict[str, float]:
    """Milliseconds an iteration (share of backward pass and update included), CPU time and peak memory."""
    import torch

    torch.set_num_threads(threads)
    problem = make_problem("random" if contestant in ("ours", "plain") else contestant, size)
    times, edges = time_plain(problem) if contestant == "plain" else time_ours(problem, threads)
    ms, cpu = 1000 * np.median(np.array(times) / LENGTH, axis=0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"ms": ms, "cpu": cpu, "memory": peak, "edges": edges}


def clocks() -> np.ndarray:
    """Wall clock and CPU time of all threads, in seconds."""
    return np.array([time.perf_counter(), time.process_time()])


def make_problem(kind: str, size: int):
    """The paper's random COP, a sparse random graph of degree 6, a star, or a scale-free graph with a large hub."""
    import dabp
    from dabp.problem import Problem

    if kind == "random":
        return dabp.generate("random-cop", variables=size, domain=15, density=0.25, seed=1)
    rng = np.random.default_rng(size)
    if kind == "sparse":
        scopes = rng.integers(0, size, size=(3 * size, 2))
        scopes = scopes[scopes[:, 0] != scopes[:, 1]]
    elif kind == "star":
        scopes = np.stack([np.zeros(size, dtype=np.int64), np.arange(1, size + 1)], 1)
    else:  # each new variable joins 3 ends of edges drawn so far, and every second one the first variable
        ends = [0, 1, 1, 2, 2, 0]
        rows = [[0, 1], [1, 2], [2, 0]]
        for new in range(3, size):
            old = {int(ends[i]) for i in rng.integers(0, len(ends), 3)} | ({0} if new % 2 else set())
            rows += [[one, new] for one in old]
            ends += [end for one in old for end in (one, new)]
        scopes = np.array(rows)
    count, domain = len(scopes), 10
    return Problem(
        [domain] * (int(scopes.max()) + 1),
        scopes.ravel(),
        np.arange(0, 2 * count + 1, 2),
        rng.integers(0, 101, size=count * domain**2).astype(float),
        np.arange(count + 1) * domain**2,
    )


def time_ours(problem, threads: int, deepest: bool = False) -> tuple[list[np.ndarray], int]:
    """The solver itself, whole windows after the first, which compiles.

    Which iterations are learned from decides how deep a backward pass goes; if `deepest` these are always the last two.
    """
    from dabp.solvers import make_solver
    from dabp.solvers.base import Budget
    from dabp.solvers.dabp.window import Window

    if deepest:
        with mock.patch.object(Window, "effective", return_value=[LENGTH - 2, LENGTH - 1]):
            return time_ours(problem, threads)
    search = make_solver("dabp", {"update_interval": LENGTH}).start(problem, seed=0, budget=Budget(threads=threads))
    times = []
    for _ in range(9 if problem.num_variables <= 200 else 3):
        start = clocks()
        while True:
            search.step()
            if search.at_boundary:
                break
        times.append(clocks() - start)
    search.close()
    return times[1:], search.structure.num_edges


def plain_of(problem):
    """The plain version with our parameters, and ours."""
    import torch

    from benchmarks.plain_dabp import PlainDabp
    from dabp.graph import FactorGraph
    from dabp.solvers.dabp.network import Network
    from dabp.solvers.dabp.structure import Structure

    graph = FactorGraph.from_problem(problem, 0.95, np.dtype(np.float32), cost_scale=50.0)
    structure = Structure.from_graph(graph, problem)
    network = Network(structure, 4, torch.Generator().manual_seed(0), torch.device("cpu"))
    plain = PlainDabp(structure)
    plain.load(network)
    edges = structure.num_edges
    return plain, network, (torch.zeros(edges, structure.width), torch.zeros(edges, 8), torch.zeros(edges, 8))


def time_plain(problem) -> tuple[list[np.ndarray], int]:
    """A window of the plain version after a short one; gradients but no update, which is in its favour."""
    plain, _, state = plain_of(problem)
    _, *state = plain.window(state, 2, [1])
    start = clocks()
    plain.window(state, LENGTH, [LENGTH - 2, LENGTH - 1])
    return [clocks() - start], len(state[0])


def check() -> dict[str, float]:
    """The plain version computes what ours does: loss, messages and gradients of a window."""
    import torch

    import dabp
    from dabp.solvers.dabp.backend_cpu import CpuBackend
    from dabp.solvers.dabp.learned import Inference
    from dabp.solvers.dabp.loss import Loss
    from dabp.solvers.dabp.messages import Propagation

    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=2)
    plain, network, state = plain_of(problem)
    expected, v2f, *_ = plain.window(state, 6, [4, 5])
    structure, device = plain.structure, torch.device("cpu")
    backend = CpuBackend(structure)
    propagation = Propagation(structure, backend, device, Inference(structure, backend, device, "learned", "edge"))
    messages, beliefs, prepared = propagation.start(), [], network.prepared()
    for _ in range(6):
        made = propagation.iterate(messages, prepared)
        messages = made.messages
        beliefs.append(made.beliefs)
    loss = Loss(structure, device)
    total = (loss(beliefs[4]) + loss(beliefs[5])) / 2
    total.backward()
    pairs = [(total, expected), (messages.v2f, v2f)]
    pairs.append((network.gru_v2f.weight_ih.grad, plain.gru1.weight_ih.grad))
    pairs += [(a.weight.grad, b.lin.weight.grad) for a, b in zip(network.layers, plain.convs, strict=True)]
    worst = max(float(((a - b).abs().max() / b.abs().max()).detach()) for a, b in pairs)
    if worst > 1e-3:
        raise SystemExit(f"the plain version differs from ours by {worst:.2g}")
    return {"worst": worst}


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["measure"]:
        name, size, threads = arguments[1], int(arguments[2]), int(arguments[3])
        print(json.dumps(check() if name == "check" else measured(name, size, threads)))
    else:
        main(*arguments)
