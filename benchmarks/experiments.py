"""What experiments cost and survive: overhead a run, tables of many results, and kill -9 at random moments.

python -m benchmarks.experiments overhead   # 2,000 trivial runs, seconds a run a worker beyond the runs themselves
python -m benchmarks.experiments table      # the table of 10,000 results
python -m benchmarks.experiments kill       # the experiment, then a worker, killed at 10 random moments each
python -m benchmarks.experiments cluster    # a local Dask cluster of two workers, one of which is killed
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from dabp.lab.experiments.experiment_plan import load_plan
from dabp.lab.experiments.results_table import as_text, rows
from dabp.lab.experiments.run_plan import run_plan as run_any_plan
from dabp.lab.experiments.store import Results, ResultsFolder

VARYING = {"runtime", "generation_time", "wall", "cpu", "peak_memory", "time"}
"""What may differ between two runs of the same run."""
run_plan = functools.partial(run_any_plan, trust=["benchmarks.trivial_solver"])
TRIVIAL = 'solver = "benchmarks.trivial_solver:Trivial"\n'
PLAN = """
seed = {seed}
[limits]
iterations = 50
wall = 60
[[instances]]
family = "random-cop"
seeds = {seeds}
parameters = {{ variables = 6, domain = 3, density = 0.5 }}
[[solvers]]
label = "trivial"
{solver}
"""


def plan_in(folder: Path, seeds: int, pause: float = 0.0):
    """A plan of short runs."""
    path = folder / "plan.toml"
    solver = f"{TRIVIAL}parameters = {{ pause = {pause} }}"
    path.write_text(PLAN.format(seed=1, seeds=seeds, solver=solver))
    return load_plan(path)


def contents(folder: Path) -> dict[str, list]:
    """Every result, times aside; fails on a corrupt or foreign file."""
    found = {}
    for path in (folder / "runs").iterdir():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        if lines[0]["key"] != path.stem:
            raise SystemExit(f"{path} is not the result it says")
        found[path.stem] = [{k: v for k, v in row.items() if k not in VARYING} for row in lines]
    return found


def overhead(folder: Path, count: int, jobs: int) -> None:
    """Wall clock over all, minus what the runs themselves took, a run and worker."""
    plan = plan_in(folder, count)
    started = time.perf_counter()
    run_plan(plan, folder / "out", jobs=jobs)
    wall = time.perf_counter() - started
    results = Results(folder / "out")
    solving = sum(o.summary["runtime"] for o in results.outcomes(plan))
    each = (wall * jobs - solving) / count
    print(f"{count} runs, {jobs} workers: {wall:.1f} s, of which runs {solving / jobs:.1f} s a worker; ", end="")
    print(f"overhead {each:.4f} s a run a worker (bar 0.3)")


def table(folder: Path, count: int) -> None:
    """Reading and averaging many results, as ``dabp lab experiment table`` does."""
    plan = plan_in(folder, 10)
    run_plan(plan, folder / "out", jobs=2)
    sample = (folder / "out" / "runs" / f"{plan.runs[0].key}.jsonl").read_bytes()
    head, _, trace = sample.partition(b"\n")
    store = ResultsFolder(folder / "many")
    large = plan_in(folder, count)
    with store.held():
        store.save_plan(large, Results(folder / "out").environment())
        for run in large.runs:
            summary = {**json.loads(head), "key": run.key, "seed": run.seed}
            (store.runs / f"{run.key}.jsonl").write_bytes(json.dumps(summary).encode() + b"\n" + 20 * trace)
    started = time.perf_counter()
    results = Results(folder / "many")
    text = as_text(rows(results, results.plan()))
    print(f"table of {count} results: {time.perf_counter() - started:.2f} s (bar 5)")
    print(text)


def kill(folder: Path, count: int, times: int) -> None:
    """Kill the experiment, then its workers, at random moments; resume; compare with an undisturbed one."""
    rng = random.Random(0)
    plan = plan_in(folder, count, pause=0.01)
    started = time.perf_counter()
    run_plan(plan, folder / "calm", jobs=2)
    length = time.perf_counter() - started
    calm = contents(folder / "calm")
    out = folder / "killed"
    stops = []
    main = [sys.executable, "-c", "from dabp.cli.experiment import app; app()"]
    command = [
        *main,
        "run",
        str(folder / "plan.toml"),
        "-o",
        str(out),
        "--jobs",
        "2",
        "--trust",
        "benchmarks.trivial_solver",
    ]
    while len(stops) < times:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.3, 0.3 + length / times + 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        stops.append(len(list((out / "runs").glob("*.jsonl"))) if out.exists() else 0)
    run_plan(plan, out, jobs=2)
    print(f"experiment killed {times} times, results then {stops}: {verdict(contents(out), calm, count)}")

    moments = sorted(rng.sample(range(1, count), times))
    victims = []

    def strike(state) -> None:
        if moments and state.done >= moments[0]:
            moments.pop(0)
            victim = rng.choice(psutil.Process().children())
            victims.append(victim.pid)
            victim.send_signal(signal.SIGKILL)

    state = run_plan(plan, folder / "workers", jobs=2, progress=strike)
    same = verdict(contents(folder / "workers"), calm, count)
    print(f"workers killed {len(victims)} times, {state.failed} runs failed: {same}")


def cluster(folder: Path, count: int) -> None:
    """The same on Dask, one of two workers killed in the middle."""
    from distributed import LocalCluster

    plan = plan_in(folder, count, pause=0.01)
    run_plan(plan, folder / "calm", jobs=2)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as local:

        def strike(state) -> None:
            if state.done == count // 2:
                os.kill(next(iter(local.workers.values())).pid, signal.SIGKILL)

        state = run_plan(plan, folder / "out", scheduler=local.scheduler_address, progress=strike)
    same = verdict(contents(folder / "out"), contents(folder / "calm"), count)
    print(f"Dask, one of two workers killed, {state.failed} runs failed: {same}")


def verdict(found: dict[str, list], calm: dict[str, list], count: int) -> str:
    """What the comparison says."""
    equal = "equal to an undisturbed experiment" if found == calm else "DIFFERENT from an undisturbed experiment"
    return f"{len(found)} of {count} results, {equal}"


def main() -> None:
    """Run what the command line names, in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["overhead", "table", "kill", "cluster"])
    parser.add_argument("--runs", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    here = str(Path(__file__).parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.what == "overhead":
            overhead(folder, chosen.runs or 2000, chosen.jobs)
        elif chosen.what == "table":
            table(folder, chosen.runs or 10_000)
        elif chosen.what == "kill":
            kill(folder, chosen.runs or 200, 10)
        else:
            cluster(folder, chosen.runs or 200)


if __name__ == "__main__":
    main()
