"""A process that a Ctrl-C in the terminal does not reach."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dabp.solvers.process_group import start_apart


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no way to ask for a process's group")
def test_a_process_apart_is_in_a_group_and_session_of_its_own() -> None:
    """The terminal sends SIGINT to its foreground group only."""
    script = "import os; print(os.getpid() == os.getpgid(0) == os.getsid(0), end='')"
    with start_apart([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.communicate()[0] == b"True"
