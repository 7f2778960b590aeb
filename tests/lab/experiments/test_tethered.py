"""A fork server is gone with whoever started it, whatever it is doing."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tests.lab.experiments.small import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fork server is for Linux")

STARTER = """
import os, subprocess, sys
script = "import sys, time; from dabp.lab.experiments.tethered import die_with_parent as tie; tie(int(sys.argv[1]))"
script += "; print('tied', flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", script, str(os.getpid())], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_a_killed_parent_takes_its_server_along():
    """Also one that is busy and looks at no pipe."""
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    child = psutil.Process(int(starter.stdout.readline()))
    starter.kill()
    starter.wait()
    wait_for(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, 5.0)
    starter.stdin.close()
    starter.stdout.close()


def test_a_parent_that_is_gone_already_is_noticed():
    """It died between starting the server and the server's first line."""
    code = "from dabp.lab.experiments.tethered import die_with_parent; die_with_parent(1); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
