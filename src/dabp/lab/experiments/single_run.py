"""One run in a process of its own: ``python -m dabp.lab.experiments.single_run``, started by `fresh_process`.

Standard input brings the run and then stays open: when it closes, because the experiment is gone, the process ends.
Standard output takes an empty line as soon as all modules are imported, then the lines of the result.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from typing import BinaryIO

from dabp.lab.experiments.execution import execute
from dabp.lab.experiments.messages import receive
from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.supervision import end
from dabp.lab.experiments.usage import usage


def main() -> None:
    """Run, write, end."""
    lifeline, output = _taken_streams()
    message = json.loads(receive(lifeline) or b"null")
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    output.write(b"\n")
    output.flush()
    started, imports = time.perf_counter(), time.process_time()
    first, *rest = execute(Run.from_dict(message["run"]), message["trust"])
    used = usage()
    measured = {**used, "wall": round(time.perf_counter() - started, 4), "cpu": round(used["cpu"] - imports, 4)}
    output.write("\n".join([json.dumps({**json.loads(first), **measured}), *rest]).encode())
    output.flush()
    os._exit(0)  # the other thread reads for ever


def _taken_streams() -> tuple[int, BinaryIO]:
    """Standard input and output for this module alone: what a solver prints goes to standard error."""
    lifeline, output = os.dup(0), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return lifeline, output


def _end_with(lifeline: int) -> None:
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    end(os.getpid())


if __name__ == "__main__":
    main()
