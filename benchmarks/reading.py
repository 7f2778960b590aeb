"""How fast and how lean a large ``.wcsp`` file is read, against toulbar2 reading it in the same run.

``python benchmarks/reading.py`` writes files of about 50 MB into a temporary folder, lets each reader read each of
them in a process of its own, in turns, and prints medians of CPU seconds (which a busy machine stretches
least), their ratios and the peak memory of the processes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

_OURS = """
import json, resource, sys, time
from dabp.formats import read
start = time.process_time()
problem = read(sys.argv[1])
seconds = time.process_time() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""
_TOULBAR2 = """
import json, os, resource, sys, time
import pytoulbar2
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
network = pytoulbar2.CFN(verbose=-1)
start = time.process_time()
network.Read(sys.argv[1])
seconds = time.process_time() - start
os.write(out, json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]).encode())
os._exit(0)
"""


def _functions(arity: int, domain: int, tuples: int, megabytes: float) -> Iterator[str]:
    """Random functions of one shape until so many bytes are written; the first line is left to the caller."""
    rng = np.random.default_rng(0)
    size = 0
    while size < megabytes * 1e6:
        scope = " ".join(map(str, rng.permutation(300)[:arity]))
        cells = rng.permutation(domain**arity)[:tuples]
        rows = np.column_stack([*np.unravel_index(cells, (domain,) * arity), rng.integers(0, 10**6, tuples)])
        text = (
            f"{arity} {scope} 1000000 {tuples}\n" + "\n".join(" ".join(map(str, row)) for row in rows.tolist()) + "\n"
        )
        size += len(text)
        yield text


def _write(path: Path, arity: int, domain: int, tuples: int, megabytes: float) -> int:
    functions = list(_functions(arity, domain, tuples, megabytes))
    with path.open("w") as stream:
        stream.write(f"large 300 {domain} {len(functions)} 1000000000000\n{' '.join([str(domain)] * 300)}\n")
        stream.writelines(functions)
    return tuples * len(functions)


def _measured(program: str, path: Path) -> tuple[float, float]:
    run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    seconds, memory = json.loads(run.stdout)
    return seconds, memory


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("| file | tuples | MB | ours, CPU s | toulbar2, CPU s | ratio | our memory / file | toulbar2's |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, arity, domain, tuples in (
        ("dense binary, domain 30", 2, 30, 900),
        ("dense binary, domain 5", 2, 5, 25),
        ("sparse, arity 5, domain 4", 5, 4, 200),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.wcsp"
            count = _write(path, arity, domain, tuples, options.megabytes)
            ours, peer = [], []
            for _ in range(options.repeats):
                ours.append(_measured(_OURS, path))
                peer.append(_measured(_TOULBAR2, path))
            size = path.stat().st_size
            seconds, other = (statistics.median(one for one, _ in runs) for runs in (ours, peer))
            memory, other_memory = (max(one for _, one in runs) / size for runs in (ours, peer))
            print(
                f"| {name} | {count:,} | {size / 1e6:.0f} | {seconds:.2f} | {other:.2f} | {seconds / other:.2f} | "
                f"{memory:.1f} | {other_memory:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
