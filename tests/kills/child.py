"""The command line with checkpoints every twentieth of a second: a short run has many moments to be ended at."""

from __future__ import annotations

from dabp.cli import main
from dabp.driver.checkpoint import schedule

if __name__ == "__main__":
    schedule.SAVE_SECONDS = schedule.CAPTURE_SECONDS = 0.05
    main()
