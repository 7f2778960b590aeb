"""toulbar2 as an independent reader: what it makes of files, each in a process of its own (its options are global)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_PROGRAM = """
import json, os, sys
import pytoulbar2
answers = []
for path in sys.argv[1:]:
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        values = None
        try:
            network = pytoulbar2.CFN(verbose=-1)
            kind = path.rsplit(".", 1)[-1]
            network.Option.opb, network.Option.qpbo = kind in ("opb", "wbo"), kind == "qpbo"
            network.Read(path)
            network.Option.opb = network.Option.qpbo = False  # Solve would refuse the multiplier that Read has set
            found = network.Solve()
            values = None if found is None else found[0]
        except BaseException as error:
            values = None if "contradiction" in str(error) else repr(error)
        os.write(send, json.dumps(values).encode())
        os._exit(0)
    os.close(send)
    answers.append(os.read(receive, 100_000).decode() or '"crashed"')
    os.close(receive)
    os.waitpid(child, 0)
print("[" + ", ".join(answers) + "]")
"""


def optimal_values(paths: Sequence[Path]) -> list[list[int] | str | None]:
    """For each file the value indices of an optimum, None if there is no solution, or text if it could not be read."""
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, paths)], capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(run.stdout)
