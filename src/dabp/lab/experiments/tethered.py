"""The first thing a fork server does: tie itself to the process that started it, before anything heavy is imported.

Linux only. Started by `ForkClient` as ``python -m dabp.lab.experiments.tethered IN OUT PARENT``. A server that is still
importing or rehearsing does not look at its pipe; killed with its parent, it is gone at once all the same.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys


def die_with_parent(parent: int) -> None:
    """On Linux a process can ask to be killed with its parent (or with the thread that made it), however that ends.

    A parent that has gone in the meantime is noticed, too.
    """
    if sys.platform == "linux":
        parent_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def main() -> None:
    """Tie, then serve."""
    if sys.platform == "linux":
        commands, replies, parent = map(int, sys.argv[1:4])
        die_with_parent(parent)
        from dabp.lab.experiments.fork_server import serve

        serve(commands, replies)


if __name__ == "__main__":
    main()
