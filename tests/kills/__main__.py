"""``python -m tests.kills``: the solvers and the experiment in turn, a share of the kills each."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

from dabp.solvers import SOLVERS, make_solver
from tests.kills import experiment, solves


def main() -> int:
    """End, resume, compare; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solver", action="append", help="one of the solvers, or 'experiment'; repeatable")
    chosen = parser.parse_args()
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    saved = [name for name in SOLVERS if type(make_solver(name)).checkpoints]
    targets = chosen.solver or [*saved, "toulbar2", "experiment"]
    rng = random.Random(chosen.seed)
    failures = 0
    for place, name in enumerate(targets):
        kills = chosen.kills // len(targets) + (place < chosen.kills % len(targets))
        begun = time.monotonic()
        found = list(experiment.chain(kills, rng) if name == "experiment" else solves.chain(name, kills, rng))
        failures += len(found)
        _say(f"{name}: {kills} kills in {time.monotonic() - begun:.0f} s, {len(found)} failures")
        for each in found:
            _say(f"  {each}")
    _say(f"{chosen.kills} kills of {len(targets)} kinds, {failures} failures")
    return 1 if failures else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
