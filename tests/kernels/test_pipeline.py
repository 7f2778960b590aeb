"""A kernel and its parts: the same answers compiled and loaded, and machine code for what Python calls only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = """
import numpy as np
from dabp.kernels.decorators import inner, kernel, part

@inner
def checked(value):
    if value < 0:
        raise ValueError("negative")
    return value

@part(fastmath=True)
def root(value):
    return np.sqrt(checked(value))

@kernel(_nrt=False)
def total(values):
    result = 0.0
    for value in values:
        result += root(value)
    return result

@kernel
def roots(values):
    result = np.empty(len(values))
    for i in range(len(values)):
        result[i] = root(values[i])
    return result
"""
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from numba.core import event
from own_kernels import checked, root, roots, total

with event.install_recorder("numba:compile") as recorder:
    values = np.arange(5.0)
    made = [total(values), roots(values).tolist()] if sys.argv[2] == "both" else [total(values)]
    try:
        total(-values)
        refused = ""
    except ValueError as error:
        refused = str(error)
made_now = [entry.data["dispatcher"].py_func for _, entry in recorder.buffer if entry.is_start]
names = [function.__name__ for function in made_now if function.__module__ == "own_kernels"]
parts = [kept.library.get_pointer_to_function("anything") for one in (checked, root) for kept in one.overloads.values()]
print(json.dumps([made, refused, names, parts]))
"""


def _run(place: Path, which: str) -> list[object]:
    environment = {**os.environ, "DABP_CACHE_DIR": str(place / "cache")}
    command = [sys.executable, "-c", SCRIPT, str(place), which]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return list(json.loads(done.stdout))


def test_a_kernel_works_with_its_parts_compiled_and_loaded(tmp_path: Path) -> None:
    """A sum of square roots, an error from a part of a part, and parts that another kernel finds on the disk."""
    (tmp_path / "own_kernels.py").write_text(MODULE, encoding="utf-8")
    expected, each = sum(k**0.5 for k in range(5)), [k**0.5 for k in range(5)]
    first, second, third = _run(tmp_path, "one"), _run(tmp_path, "both"), _run(tmp_path, "both")
    assert first == [[expected], "negative", ["total", "root", "checked"], [0, 0]]
    assert second == [[expected, each], "negative", ["roots"], [0]]
    assert third == [[expected, each], "negative", [], []]
