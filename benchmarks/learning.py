"""What learning adds to belief propagation: `bp-learned` beside static damping, `bp-reinforced` and local search.

``python -m benchmarks.learning [race reach colouring iteration overhead ablation]`` prints the named parts as Markdown,
all by default. Runs are kept in benchmarks/recorded/learning.jsonl as they end, and the same command continues;
``--seconds 2 10 30``, ``--instances 5`` (``--first 3`` for others than the first), ``--kinds …`` and ``--solvers …``
choose which, ``--spend 150`` begins no run after so many seconds. The whole of the race is ``race --instances 20
--seconds 2 10 30``. One thread; limits are CPU seconds, as the clock that solvers look at is that of the process.
Whoever plans for its limit has a run for each; static damping and tabu search do not, and what they had after 2 s is
read off their longest run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dabp
from benchmarks.learning_kinds import EVERY, FIRST_SEED, LARGE_KINDS
from benchmarks.learning_tables import race_tables
from dabp.problem import Problem

RECORDED = Path(__file__).parent / "recorded" / "learning.jsonl"

SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "bp-learned": ("bp-learned", {}),
    "bp-reinforced": ("bp-reinforced", {}),
    **{
        f"static {damping}": ("dbp-scfg", {"damping": damping, "jitter": 0.1, "restarts": 10**6})
        for damping in (0.3, 0.5, 0.7, 0.9)
    },
    "annealing": ("annealing", {}),
    "tabu": ("tabu", {}),
    "bp-learned, local search off": ("bp-learned", {"local_search": False}),
}
"""What is raced, by name: solver and parameters."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "whole": {},
    "temperature off": {"temperature": False},
    "pretraining off": {"pretrained": False},
    "online learning off": {"online": False},
    "damping by degree off": {"per_variable": False},
    "runs of min-sum off": {"min_sum": False},
    "pull to the best off": {"consensus": 0.0},
    "polishing off": {"polish": False},
    "local search off": {"local_search": False},
}

OURS = "bp-learned"

ANYTIME = ("static", "tabu")
"""Solvers, by how their names begin, that do the same under any limit."""


@contextlib.contextmanager
def cpu_clock() -> Iterator[None]:
    """Let limits count the seconds of this process, whatever else runs on the machine."""
    wall = time.perf_counter
    time.perf_counter = time.process_time
    try:
        yield
    finally:
        time.perf_counter = wall


def load(problem: Problem, solver: str, params: dict[str, Any]) -> None:
    """Have the kernels of a solver loaded; two iterations of ours would need none of min-sum, sweeps and walks."""
    for name in (solver, "bp-reinforced", "annealing", "tabu") if solver == OURS else (solver,):
        dabp.solve(problem, name, params=params if name == solver else {}, max_iterations=2)


class MissingRunError(Exception):
    """A run is not recorded, and none is to be made."""


class Record:
    """Runs by key, one line of JSON each; only those that are there if it is `closed`."""

    def __init__(self, path: Path = RECORDED, spend: float = np.inf, *, closed: bool = False):
        self._path, self._spend, self._closed = path, spend, closed
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.rows: dict[str, dict[str, Any]] = {row["key"]: row for row in map(json.loads, lines)}

    def run(self, kind: str, instance: int, name: str, seconds: float, params: dict[str, Any]) -> dict[str, Any]:
        """One solve, unless it was done before; kernels are loaded off the record."""
        key = f"{kind}|{instance}|{name}|{seconds:g}"
        if key in self.rows:
            return self.rows[key]
        if self._closed:
            raise MissingRunError(key)
        if time.process_time() > self._spend:
            raise SystemExit("so far; the same command goes on")
        problem = EVERY[kind](FIRST_SEED + instance)
        solver = SOLVERS.get(name, (OURS, {}))[0]
        load(problem, solver, params)
        wall = time.monotonic()
        with cpu_clock():
            result = dabp.solve(problem, solver, params=params, time_limit=seconds, seed=instance)
        if result.status is dabp.Status.INTERRUPTED:  # says nothing of so many seconds
            raise KeyboardInterrupt
        row = {
            "key": key,
            "kind": kind,
            "instance": instance,
            "solver": name,
            "seconds": seconds,
            "cost": result.cost,
            "cpu": round(result.runtime, 2),
            "wall": round(time.monotonic() - wall, 2),
            "iterations": result.iterations,
            "improvements": _told(result.trace.improvements, name),
        }
        self.rows[key] = row
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return row

    def of(self, seconds: float, name: str) -> dict[tuple[str, int], float]:
        """Cost by kind and instance of all runs that are recorded, after so many seconds."""
        costs = {}
        for row in self.rows.values():
            if row["solver"] != name or not (
                row["seconds"] == seconds or (_anytime(name) and row["seconds"] > seconds)
            ):
                continue
            found = [cost for at, cost in row["improvements"] if at <= seconds]
            cost = row["cost"] if row["seconds"] == seconds else min(found, default=None)
            costs[row["kind"], row["instance"]] = float("inf") if cost is None else cost
        return costs


def _anytime(name: str) -> bool:
    return name.startswith(ANYTIME)


def _told(improvements: list[Any], name: str) -> list[list[float]]:
    """When which cost was reached: of solvers that do the same under any limit all, else the last ones."""
    last = improvements if _anytime(name) else improvements[-40:]
    return [[round(at, 3), cost] for at, _, cost in last]


def race(record: Record, options: argparse.Namespace) -> None:
    """Run what is missing, then all that is recorded, instance by instance, against each opponent."""
    for seconds in options.seconds:
        for instance in range(options.first, options.first + options.instances):
            for kind in options.kinds:
                for name in options.solvers:
                    longest = max(options.seconds) if _anytime(name) else seconds
                    if not options.tables:
                        record.run(kind, instance, name, longest, SOLVERS[name][1])
        race_tables({name: record.of(seconds, name) for name in SOLVERS}, OURS, seconds)


def _reached(record: Record, kind: str, instance: int) -> float:
    """After which part of ten seconds, by the shortest limit within which it happens."""
    theirs = record.run(kind, instance, "bp-reinforced", 10, {})["cost"]
    for seconds in (1.0, 2.0, 10 / 3, 10.0):
        row = record.run(kind, instance, OURS, seconds, {})
        reached: list[float] = [at for at, cost in row["improvements"] if cost <= theirs]
        if reached:
            return reached[0] / 10
    return np.inf


def reach(record: Record, options: argparse.Namespace) -> None:
    """How soon bp-learned reaches what bp-reinforced has after ten seconds, on the large kinds."""
    print("\nTime to reach what bp-reinforced has after 10 s, as a part of 10 s\n")
    print("| kind | instances | median (all) |\n| --- | --- | --- |")
    every: list[float] = []
    for kind in LARGE_KINDS:
        parts = []
        for instance in range(options.instances):
            with contextlib.suppress(MissingRunError):
                parts.append(_reached(record, kind, instance))
        if parts:
            every += parts
            print(f"| {kind} | {len(parts)} | {np.median(parts):.2f} ({', '.join(f'{part:.2f}' for part in parts)}) |")
    if every:
        print(f"| all | {len(every)} | {np.median(every):.2f} |")


def colouring(record: Record, options: argparse.Namespace) -> None:
    """The mean of a single run on colouring with 100 variables, above the best known."""
    kind, runs = "graph-coloring 100", 10
    ours: dict[str, dict[str, Any]] = {
        "bp-learned, its own length": {"restarts": 1},
        "bp-learned, 400 iterations": {"restarts": 1, "iterations": 400},
    }
    above: dict[str, list[float]] = {name: [] for name in (*ours, "min-sum, λ from 0 to 0.8")}
    for instance in range(options.instances):
        problem = EVERY[kind](FIRST_SEED + instance)
        known = [row["cost"] for row in record.rows.values() if (row["kind"], row["instance"]) == (kind, instance)]
        single = {
            name: [dabp.solve(problem, OURS, params=params, seed=seed).cost for seed in range(runs)]
            for name, params in ours.items()
        }
        hard = [
            dabp.solve(
                problem,
                "bp-reinforced",
                params={"restarts": 1, "damping": 0.8 * seed / runs, "reinforcement": 1e-3},
                max_iterations=2000,
                seed=seed,
            ).cost
            for seed in range(runs)
        ]
        single["min-sum, λ from 0 to 0.8"] = hard
        best = min(known + [cost for costs in single.values() for cost in costs])
        for name, costs in single.items():
            above[name].append(float(np.mean(costs)) / best - 1)
    print(f"\n{kind}, {options.instances} instances, the mean of {runs} single runs above the best known\n")
    for name, values in above.items():
        print(f"- {name}: {100 * np.mean(values):.1f} % ({', '.join(f'{100 * value:.1f}' for value in values)})")


SEVERAL = {
    "1,000 triples, 100 variables of 4 values": (3, 4, 1000),
    "300 tables of four, 100 variables of 4 values": (4, 4, 300),
    "200 triples, 100 variables of 12 values": (3, 12, 200),
    "60 tables of six, 100 variables of 4 values": (6, 4, 60),
}
"""Random costs of more than two variables: arity, domain, factors."""


def _timed(kind: str) -> Problem:
    """A problem whose iterations are timed."""
    if kind not in SEVERAL:
        return EVERY[kind](FIRST_SEED)
    (arity, domain, factors), rng = SEVERAL[kind], np.random.default_rng(FIRST_SEED)
    scopes = [tuple(rng.permutation(100)[:arity].tolist()) for _ in range(factors)]
    return Problem.from_tables([domain] * 100, [(scope, rng.random((domain,) * arity)) for scope in scopes])


def iteration(record: Record, options: argparse.Namespace) -> None:
    """A soft iteration, β rising or constant, beside one of min-sum: CPU time, the least of interleaved repetitions."""
    from dabp.graph import FactorGraph
    from dabp.kernels.belief_propagation.message_arrays import Rules
    from dabp.solvers.belief_propagation.engine import MinSum
    from dabp.solvers.belief_propagation.schedule import Ramp, Schedule
    from dabp.solvers.belief_propagation.soft_engine import SoftMessages

    print(
        "\n| problem | min-sum | soft, β rising | ratio | β constant | ratio |\n| --- | --- | --- | --- | --- | --- |"
    )
    pairs = ("random-cop 100", "random-cop 1000", "graph-coloring 100", "regular 3000")
    for kind in (*pairs, *SEVERAL):
        problem = _timed(kind)
        graph = FactorGraph.from_problem(problem, dtype=np.float32)
        hard, soft = MinSum(problem, graph), SoftMessages(problem, graph)
        count = 400 if kind.endswith(" 100") else 60
        betas = Ramp(1.0, 4.0, geometric=True), Ramp(2.0, 2.0)
        schedules = [Schedule(400, beta, Ramp(0.0, 0.2), 0.2) for beta in betas]
        took = np.full(3, np.inf)
        for _ in range(8):
            hard.reset(0.2)
            started = time.process_time()
            done = len(hard.run(count, Rules(rate=1e-3))[0])  # it may settle early
            times = [(time.process_time() - started) / done]
            for schedule in schedules:
                soft.reset(0.2)
                started = time.process_time()
                soft.run_softly(schedule.phases(0, count), Rules())
                times.append((time.process_time() - started) / count)
            took = np.minimum(took, times)
        ratios = [f"{1e3 * each:.4f} ms | {each / took[0]:.2f}" for each in took[1:]]
        print(f"| {kind} | {1e3 * took[0]:.4f} ms | {' | '.join(ratios)} |")


def overhead(record: Record, options: argparse.Namespace) -> None:
    """What features, draws and learning take of a run's time, and that the same seed gives the same result."""
    from dabp.solvers.base import Budget
    from dabp.solvers.belief_propagation.learned import LearnedBeliefPropagation, LearnedSearch

    seconds = 2.0
    share_of = f"share of {seconds:g} s, median of five seeds, that is neither message passing nor local search"
    print(f"\n| problem | {share_of} | same seed, same result |\n| --- | --- | --- |")
    for kind in ("random-cop 100", "graph-coloring 100", "regular 3000"):
        problem = EVERY[kind](FIRST_SEED)
        dabp.solve(problem, OURS, time_limit=seconds)  # all kernels are loaded in it
        shares = []
        for seed in range(5):
            with cpu_clock():
                began = time.process_time()
                search = LearnedBeliefPropagation().start(problem, seed=seed, budget=Budget(time_limit=seconds))
                assert isinstance(search, LearnedSearch)
                search.step()
                inside, started = search._iterated, time.process_time()
                while time.process_time() - began < seconds:
                    search.step()
                shares.append(1 - (search._iterated - inside) / (time.process_time() - started))
        again = [dabp.solve(problem, OURS, max_iterations=300, seed=5, threads=threads) for threads in (1, 2)]
        equal = np.array_equal(again[0].trace.iteration_costs, again[1].trace.iteration_costs)
        told = ", ".join(f"{100 * share:.1f}" for share in shares)
        print(
            f"| {kind} | {100 * np.median(shares):.1f} % ({told}) | {'yes, with 1 and 2 threads' if equal else 'NO'} |"
        )


def ablation(record: Record, options: argparse.Namespace) -> None:
    """bp-learned with each of its parts switched off, at one budget."""
    seconds = options.seconds[0]
    print(f"\n{seconds:g} s: mean above the best of all, better / equal / worse than the whole\n")
    means: dict[str, list[str]] = {name: [] for name in ABLATIONS}
    kinds = [kind for kind in options.kinds if kind in options.ablated]
    for kind in kinds:
        found: list[list[float]] = []
        for k in range(options.instances):
            with contextlib.suppress(MissingRunError):
                names = {name: OURS if name == "whole" else f"{OURS}, {name}" for name in ABLATIONS}
                found.append([record.run(kind, k, names[name], seconds, ABLATIONS[name])["cost"] for name in names])
        table = np.array(found, dtype=np.float64).reshape(-1, len(ABLATIONS)).T
        above = (table - table.min(axis=0)) / np.abs(table.min(axis=0))
        for name, row, part in zip(ABLATIONS, table, above, strict=True):
            told = f"{(row < table[0]).sum()} / {(row == table[0]).sum()} / {(row > table[0]).sum()}"
            means[name].append(f"{100 * part.mean():.2f} %, {told}")
    print("| | " + " | ".join(kinds) + " |\n| --- |" + " --- |" * len(kinds))
    for name, cells in means.items():
        print(f"| {name} | {' | '.join(cells)} |")


PARTS = {
    "race": race,
    "reach": reach,
    "colouring": colouring,
    "iteration": iteration,
    "overhead": overhead,
    "ablation": ablation,
}

RECORDED_PARTS = ("race", "reach", "ablation")
"""Whose runs are kept: the others are measured each time."""

ABLATED = ("random-cop 300", "graph-coloring 300", "scale-free 300", "regular 3000")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--seconds", nargs="+", type=float, default=[2.0, 10.0])
    parser.add_argument("--first", type=int, default=0, help="instance that a race begins with")
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", default=list(EVERY))
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    parser.add_argument("--ablated", nargs="+", default=list(ABLATED))
    parser.add_argument("--spend", type=float, default=np.inf, help="CPU seconds after which no run begins")
    parser.add_argument("--tables", action="store_true", help="only what is recorded, of race, reach and ablation")
    return parser.parse_args()


def _parts(options: argparse.Namespace) -> Iterator[str]:
    for part in options.parts:
        if part not in PARTS:
            raise SystemExit(f"there is no part {part!r}: {', '.join(PARTS)}")
        if not options.tables or part in RECORDED_PARTS:
            yield part


if __name__ == "__main__":
    chosen = _options()
    kept = Record(spend=chosen.spend, closed=chosen.tables)
    for each in list(_parts(chosen)):
        PARTS[each](kept, chosen)
