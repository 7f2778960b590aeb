"""The command line with checkpoints every twentieth of a second: a short run has many moments to be ended at."""

from __future__ import annotations

import sys


def main() -> None:
    """As ``dabp``; an interrupt while it is being loaded is no traceback."""
    try:
        from dabp.cli import main as command_line
        from dabp.driver.checkpoint import saving

        saving.SAVE_SECONDS = saving.CAPTURE_SECONDS = 0.05
        command_line()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
