"""Quality and speed of gat-pcm-lns: our parameters, the published ones in the same search, and the paper's column.

    python -m benchmarks.gat_pcm --published gat_pcm_official.pth

The published parameters are a PyTorch state dict (read with ``weights_only``); without them only ours are run.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.numpy import save_file

import dabp
from dabp.problem import Problem
from dabp.solvers.gat_pcm.search import GatPcmLns


class Family(NamedTuple):
    """A family of instances by (variables, seed), and the paper's GAT-PCM-LNS by number of variables."""

    generate: Callable[[int, int], Problem]
    paper: dict[int, float]


FAMILIES = {
    "random-cop": Family(
        lambda n, seed: dabp.generate("random-cop", variables=n, domain=15, density=0.25, seed=seed),
        {60: 28.00, 80: 30.80, 100: 32.78},
    ),
    "scale-free": Family(
        lambda n, seed: dabp.generate("scale-free", variables=n, domain=15, m0=10, m1=10, seed=seed),
        {60: 29.62, 80: 30.41, 100: 31.10},
    ),
}


class Run(NamedTuple):
    """Cost divided by constraints, and CPU seconds per cycle."""

    cost: float
    seconds: float


def from_published(state: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Rename the parameters that the authors of GAT-PCM publish (a PyTorch Geometric state dict) to ours."""
    renamed = {
        "out.weight": state["out.weight"],
        "out.bias": state["out.bias"],
        "aggregate.weight": state["agg.weight"],
        "transform.weight": state["transform.weight"],
    }
    for i in range(4):
        theirs, ours = f"conv{i + 1}", f"layers.{i}"
        renamed[f"{ours}.weight"] = state[f"{theirs}.lin_l.weight"]
        renamed[f"{ours}.source"] = state[f"{theirs}.att_l"].squeeze(0)
        renamed[f"{ours}.target"] = state[f"{theirs}.att_r"].squeeze(0)
        renamed[f"{ours}.bias"] = state[f"{theirs}.bias"]
    return {name: tensor.detach().cpu().numpy().astype(np.float32) for name, tensor in renamed.items()}


def run(problem: Problem, solver: GatPcmLns, seed: int) -> Run:
    """One solve from a random start."""
    begin = time.process_time()
    result = dabp.solve(problem, solver, seed=seed, presolve=False)
    seconds = time.process_time() - begin
    return Run(result.cost / problem.facts.num_constraints, seconds / max(1, result.iterations))


def main() -> None:
    """Print a table row per family and parameters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, help="the authors' parameters (.pth)")
    parser.add_argument("--weights", type=Path, help="other parameters of ours (.safetensors)")
    parser.add_argument("--variables", type=int, default=60)
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        files = {"ours": str(arguments.weights) if arguments.weights else None}
        if arguments.published:
            state = torch.load(arguments.published, weights_only=True, map_location="cpu")
            files["published"] = str(Path(folder) / "published.safetensors")
            save_file(from_published(state), files["published"])
        solvers = {name: GatPcmLns(max_cycles=arguments.cycles, weights=file) for name, file in files.items()}
        warm = FAMILIES["random-cop"].generate(20, 0)
        run(warm, next(iter(solvers.values())), 0)  # compiles

        print("| family | parameters | mean cost | to the paper's | to the published | each instance | ms a cycle |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for family in arguments.families:
            runs: dict[str, list[Run]] = {name: [] for name in solvers}
            for seed in range(1, arguments.instances + 1):
                problem = FAMILIES[family].generate(arguments.variables, seed)
                for name, solver in solvers.items():
                    runs[name].append(run(problem, solver, seed))
            means = {name: statistics.fmean(r.cost for r in rows) for name, rows in runs.items()}
            for name, rows in runs.items():
                paper = FAMILIES[family].paper.get(arguments.variables)
                to_paper = f"{means[name] / paper - 1:+.2%}" if paper else "–"
                to_published = f"{means[name] / means['published'] - 1:+.2%}" if "published" in means else "–"
                each = ", ".join(f"{r.cost:.2f}" for r in rows)
                milliseconds = 1000 * statistics.median(r.seconds for r in rows)
                print(
                    f"| {family} | {name} | {means[name]:.2f} | {to_paper} | {to_published} | {each} "
                    f"| {milliseconds:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
