"""Speed and memory of DABP: beside the plain backend, beside an older checkout, and as problems grow.

    python -m benchmarks.dabp speed                   # compiled and plain at 60 and 100 variables
    python -m benchmarks.dabp growth                  # the growth table
    python -m benchmarks.dabp against OLD_CHECKOUT    # this checkout and an older one, window by window in turns

Each contestant is a process of its own, so that peak memory is its own, and runs on one thread. Times are CPU
milliseconds an iteration, backward pass and update included: the median of whole windows after the first, which loads
kernels. The last two iterations of a window are always effective, so that all backward passes are equally deep.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np

LENGTH = 20
WINDOWS, FEW_WINDOWS = 9, 4
"""Of each contestant; few where a window takes long."""
HERE = Path(__file__).resolve().parents[1]


class Contestant:
    """A process that runs a window each time it is asked."""

    def __init__(self, kind: str, size: int, params: dict[str, object], checkout: Path = HERE):
        environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
        if checkout != HERE:
            environment["DABP_CACHE_DIR"] = str(checkout / ".kernels")
        command = [sys.executable, "-P", __file__, "contestant", kind, str(size), json.dumps(params)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=checkout
        )

    def window(self) -> dict[str, float]:
        """CPU milliseconds of an iteration, peak memory so far in GB, and edges."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("window\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def contest(windows: int, *contestants: Contestant) -> list[dict[str, float]]:
    """The median window of each; windows take turns, the first is left out."""
    rows = [[one.window() for one in contestants] for _ in range(windows)]
    for one in contestants:
        one.close()
    return [{**mine[-1], "cpu": float(np.median([row["cpu"] for row in mine[1:]]))} for mine in zip(*rows, strict=True)]


def speed() -> None:
    """The compiled backend beside the plain one."""
    print("| variables | backend | CPU ms an iteration | ratio | peak memory, GB |")
    print("| --- | --- | --- | --- | --- |")
    for variables in (60, 100):
        params: list[dict[str, object]] = [{"backend": name} for name in ("compiled", "plain")]
        rows = contest(FEW_WINDOWS, *(Contestant("random", variables, one) for one in params))
        for name, row in zip(("compiled", "plain"), rows, strict=True):
            ratio = row["cpu"] / rows[0]["cpu"]
            print(f"| {variables} | {name} | {row['cpu']:.1f} | {ratio:.1f} | {row['memory']:.2f} |", flush=True)


def against(old: str) -> None:
    """Print this checkout beside an older one: the same problems, seeds and depth of the backward pass."""
    print("| problem | network every | old, CPU ms | new, CPU ms | old / new | old, GB | new, GB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind, size, interval in (("random", 60, 1), ("random", 60, 20), ("random", 100, 1), ("random", 100, 20),
                                 ("sparse", 5000, 1)):  # fmt: skip
        params: dict[str, object] = {"network_interval": interval}
        checkouts = Path(old).resolve(), HERE
        before, after = contest(
            WINDOWS if kind == "random" else FEW_WINDOWS, *(Contestant(kind, size, params, one) for one in checkouts)
        )
        print(
            f"| {kind} {size:,} | {interval} | {before['cpu']:.2f} | {after['cpu']:.2f} "
            f"| {before['cpu'] / after['cpu']:.2f} | {before['memory']:.2f} | {after['memory']:.2f} |",
            flush=True,
        )


def growth() -> None:
    """Time and memory by edges."""
    print("| problem | edges (split) | CPU ms an iteration | CPU ms per 1,000 edges | peak memory, GB |")
    print("| --- | --- | --- | --- | --- |")
    for kind, size in (("sparse", 1250), ("sparse", 5000), ("sparse", 20000), ("star", 2000), ("scale-free", 5000)):
        (row,) = contest(FEW_WINDOWS, Contestant(kind, size, {}))
        per_edge = 1000 * row["cpu"] / row["edges"]
        edges = f"{row['edges']:,.0f}"
        print(f"| {kind} {size:,} | {edges} | {row['cpu']:.1f} | {per_edge:.2f} | {row['memory']:.2f} |", flush=True)


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


def run_contestant(kind: str, size: int, params: dict[str, object]) -> None:
    """Run a window for each line of standard input; this part also runs on an older checkout."""
    from dabp.solvers import make_solver
    from dabp.solvers.base import Budget
    from dabp.solvers.dabp.window import Window

    solver = make_solver("dabp", {"update_interval": LENGTH, "tolerance": 0.0, **params})
    search = solver.start(make_problem(kind, size), seed=0, budget=Budget())
    with mock.patch.object(Window, "effective", return_value=[LENGTH - 2, LENGTH - 1]):
        for _ in sys.stdin:
            begin = time.process_time()
            while True:
                search.step()
                if search.at_boundary:
                    break
            ms = 1000 * (time.process_time() - begin) / LENGTH
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(json.dumps({"cpu": ms, "memory": memory, "edges": search.structure.num_edges}), flush=True)
    search.close()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:] or ["speed"]
    if what == "contestant":
        run_contestant(arguments[0], int(arguments[1]), json.loads(arguments[2]))
    else:
        {"speed": speed, "growth": growth, "against": against}[what](*arguments)
