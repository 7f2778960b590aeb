"""``python -m dabp``, and the program ``dabp``: nothing is imported before an interrupt is answered in a line."""

from __future__ import annotations

import signal
import sys
import time

PROCESS_START = time.perf_counter()
"""When the program began to load; its time limits count from here."""


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded, or after it has ended, gives no traceback."""
    try:
        from dabp.cli import main as command_line

        command_line(PROCESS_START)
    except KeyboardInterrupt:
        sys.stderr.write("dabp: interrupted before it was done\n")
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left is to end


if __name__ == "__main__":
    main()
