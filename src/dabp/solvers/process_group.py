"""Processes that Ctrl-C in the terminal does not reach: only their parent handles an interrupt."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def start_apart(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own; `options` are those of `subprocess.Popen`."""
    if sys.platform == "win32":
        return subprocess.Popen(command, creationflags=subprocess.CREATE_NEW_PROCESS_GROUP, **options)
    return subprocess.Popen(command, start_new_session=True, **options)
