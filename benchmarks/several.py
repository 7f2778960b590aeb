"""The ten best answers of networks of the UAI competition: how many lists are proved within the time.

    python -m benchmarks.several FOLDER --seconds 20 --most 20

FOLDER has files ``*.uai`` with evidence beside them (``.uai.evid``), such as MAP of the competition of 2014.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import dabp
from dabp.formats.evidence import read_evidence


def main() -> None:
    """Print a row per network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", default="Promedas,pedigree", help="beginnings of file names")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--most", type=int, default=20, help="networks, evenly spaced among those there are")
    parser.add_argument("--solutions", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    begins = tuple(options.names.split(","))
    files = sorted(file for file in options.folder.glob("*.uai") if file.name.startswith(begins))
    files = files[:: max(1, len(files) // options.most)][: options.most]
    proved = 0
    for file in files:
        problem = dabp.read(file)
        evidence = Path(f"{file}.evid")
        observed = read_evidence(evidence, problem) if evidence.exists() else {}
        fix = {problem.names.variable(v): problem.names.labels(v)[value] for v, value in observed.items()}
        start = time.perf_counter()
        answers = dabp.solve_several(
            problem, options.solutions, fix=fix, time_limit=options.seconds, threads=options.threads
        )
        seconds, done = time.perf_counter() - start, sum(each.status.value == "OPTIMAL" for each in answers)
        proved += answers.proved
        costs = [each.cost for each in answers if each.cost is not None]
        print(
            f"{file.stem:16s} {done:3d} proved   {costs[0]:10.4f} to {costs[-1]:10.4f}   {seconds:5.1f} s", flush=True
        )
    print(f"lists proved: {proved} of {len(files)}")


if __name__ == "__main__":
    main()
