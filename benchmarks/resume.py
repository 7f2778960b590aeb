"""Kill a DABP run at random moments, resume it each time, and compare the end with an uninterrupted run.

    python -m benchmarks.resume [--kills 20] [--variables 20] [--seed 1]

Runs ``dabp.solve`` with a checkpoint in a child process, ends it with SIGKILL, and starts it again with ``resume``. One
thread on the CPU: costs of all iterations, the assignment and every record but its time must be equal.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def child(checkpoint: str, variables: int, restarts: int) -> None:
    """Solve, resuming if there is something to resume, and print what must be equal."""
    import dabp
    from dabp.driver.checkpoint import saving

    saving.SAVE_SECONDS = saving.CAPTURE_SECONDS = 0.0  # every window, so that a short run has many boundaries
    problem = dabp.generate("random-cop", variables=variables, domain=8, density=0.4, seed=1)
    file = Path(checkpoint)
    params = {"restarts": restarts, "learning_rate": 1e-2, "tolerance": 0.0}
    result = dabp.solve(problem, "dabp", params=params, seed=0, checkpoint=file, resume=file.exists())
    records = [{k: v for k, v in record.items() if k != "time"} for record in result.trace.records]
    answer = {
        "cost": result.cost,
        "assignment": result.assignment.tolist(),
        "iterations": result.iterations,
        "costs": result.trace.iteration_costs.tolist(),
        "records": records,
    }
    print(json.dumps(answer))


def start(checkpoint: Path, variables: int, restarts: int) -> subprocess.Popen[str]:
    """A child that solves."""
    command = [sys.executable, "-m", "benchmarks.resume", "--child", str(checkpoint)]
    command += ["--variables", str(variables), "--restarts", str(restarts)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def compare(kills: int, variables: int, restarts: int, seed: int) -> int:
    """How many kills hit a running child; raises if the end differs."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = json.loads(start(Path(folder) / "whole", variables, restarts).communicate()[0])
        file, hit = Path(folder) / "killed", 0
        while hit < kills:
            running = start(file, variables, restarts)
            generation = file.stat().st_mtime_ns if file.exists() else None
            while running.poll() is None and (file.stat().st_mtime_ns if file.exists() else None) == generation:
                time.sleep(0.01)  # at least one new boundary, so that the run gets on
            time.sleep(rng.uniform(0.0, 0.5))
            if running.poll() is not None:
                break
            running.send_signal(signal.SIGKILL)
            running.communicate()
            hit += 1
        if hit == kills:
            running = start(file, variables, restarts)
        resumed = json.loads(running.communicate()[0])
    if resumed != whole:
        raise SystemExit("the resumed run differs from the uninterrupted one")
    return hit


def main() -> None:
    """Parse, run, print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--restarts", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.variables, given.restarts)
        return
    hit = compare(given.kills, given.variables, given.restarts, given.seed)
    print(f"killed {hit} times, resumed each time: the end equals the uninterrupted run's")


if __name__ == "__main__":
    main()
