"""``python -m checks.kills``: the solvers and the experiment in turn, a share of the kills each."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path

from checks.kills import disks, experiment, solves
from checks.records import Clock
from dabp.solvers import SOLVERS, make_solver


def main() -> int:
    """End, resume, compare; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solver", action="append", help="one of them, 'experiment' or 'disks'; repeatable")
    parser.add_argument("--disks", type=int, default=20, help="solves on a disk with little space")
    clock = Clock(parser, "kills")
    chosen = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job ignores it, as would its children
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    saved = [name for name in SOLVERS if type(make_solver(name)).checkpoints]
    targets = chosen.solver or [*saved, "toulbar2", "experiment", "disks"]
    killed = [name for name in targets if name != "disks"]
    rng = random.Random(chosen.seed)
    failures = 0
    for place, name in enumerate(killed):
        kills = chosen.kills // len(killed) + (place < chosen.kills % len(killed))
        begun = time.monotonic()
        found = list(experiment.chain(kills, rng) if name == "experiment" else solves.chain(name, kills, rng))
        failures += _tell(f"{name}: {kills} kills", begun, found)
    if "disks" in targets:
        begun = time.monotonic()
        found = list(disks.chain(chosen.disks, rng))
        failures += _tell(
            f"disks: {chosen.disks} nearly full, one read-only, two solves on one checkpoint", begun, found
        )
    count = f"{chosen.kills if killed else 0} kills of {len(killed)} kinds"
    _say(f"{count}, {failures} failures")
    clock.ended(chosen, count, failures)
    return 1 if failures else 0


def _tell(what: str, begun: float, found: list[str]) -> int:
    """Say what was done and what went wrong; how much that was."""
    _say(f"{what} in {time.monotonic() - begun:.0f} s, {len(found)} failures")
    for each in found:
        _say(f"  {each}")
    return len(found)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
