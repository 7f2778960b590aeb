"""`auto` on images and on grids of a million variables."""

from __future__ import annotations

import argparse
import resource
from functools import partial

import numpy as np

from benchmarks import expansion_peer
from benchmarks.auto_runs import Run, Runs, cost_of, table
from benchmarks.vision_problems import large_grid, vision_problems

IMAGE_PEERS = ("dual", "expansion")
"""Each alone, with one thread."""


def vision(runs: Runs, options: argparse.Namespace) -> None:
    """Gaps in per cent to the best bound that anything proved, by problem, seed and seconds.

    Beside the dual and expansion moves alone, expansion by PyMaxflow if that is there.
    """
    limits = options.seconds or [2.0, 5.0, 10.0]
    peers = (*IMAGE_PEERS, *([expansion_peer.NAME] if expansion_peer.available() else []))
    table(["problem", "s", *(f"auto, {t} threads" for t in options.threads), *peers, "late, s"])
    for seed in range(options.first, options.first + options.instances):
        for name, problem in vision_problems(options.folder, seed).items():
            if options.only and name not in options.only:
                continue
            rows = {}
            for seconds in limits:
                key = f"vision-{name}-{seed}-{seconds:g}s"
                for threads in options.threads:
                    rows[seconds, threads] = runs.alone(
                        Run(f"{key}-auto-{threads}", problem, "auto", seconds, threads=threads)
                    )
                for peer in peers:
                    other = peer == expansion_peer.NAME
                    run = expansion_peer.PeerRun if other else partial(Run, solver=peer)
                    rows[seconds, peer] = runs.alone(run(key=f"{key}-{peer}", problem=problem, seconds=seconds))
            bound = max(row["bound"] for row in rows.values() if row["bound"] is not None)
            for seconds in limits:
                mine = [rows[seconds, column] for column in (*options.threads, *peers)]
                cells = [f"{100 * (cost_of(row) - bound) / abs(bound):.4f}" for row in mine]
                late = max(rows[seconds, t]["wall"] for t in options.threads) - seconds
                print(f"| {name} {seed} | {seconds:g} | {' | '.join(cells)} | {late:.2f} |", flush=True)


def grids(runs: Runs, options: argparse.Namespace) -> None:
    """Costs after 10 s and after 60 s, how late they came, and the memory."""
    limits = options.seconds or [10.0, 60.0]
    table(["grid", *(f"{seconds:g} s" for seconds in limits), "first above last, %", "late, s", "peak memory, GB"])
    for kind in options.only or ("potts", "random"):
        problem = large_grid(kind)
        rows = [
            runs.alone(Run(f"grid-{kind}-{seconds:g}s-auto", problem, "auto", seconds, threads=2, warm=False))
            for seconds in limits
        ]
        costs = np.array([cost_of(row) for row in rows])
        late = max(row["wall"] - seconds for row, seconds in zip(rows, limits, strict=True))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        above = 100 * (costs[0] / costs[-1] - 1)
        cells = " | ".join(f"{cost:.0f}" for cost in costs)
        print(f"| {kind} | {cells} | {above:.2f} | {late:.2f} | {peak:.2f} |", flush=True)
