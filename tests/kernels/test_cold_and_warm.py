"""A kernel gives the same numbers in the process that compiles it and in one that loads it from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import hashlib
import numpy as np
from dabp.kernels.attention import attentive_messages, chebyshev, one_variable
rng = np.random.default_rng(0)
variables, degree, heads, width = 5, 23, 4, 15
edges = variables * degree
draw = lambda *shape: rng.normal(size=shape).astype(np.float32)
graph = one_variable.VariableEdges(np.arange(0, edges + 1, degree), np.arange(edges), np.arange(edges))
given = one_variable.Inputs(draw(edges, heads), draw(edges, heads), draw(edges, width))
gradients = one_variable.Results(draw(edges), draw(edges, width))
made = one_variable.Inputs(*(np.zeros_like(array) for array in given))
table = chebyshev.interpolation(np.float32)
attentive_messages.attend_backward(0, variables, graph, table, given, gradients, made)
print(hashlib.sha256(b"".join(array.tobytes() for array in made)).hexdigest())
"""


@pytest.mark.slow
def test_gradients_do_not_depend_on_who_compiled(tmp_path: Path) -> None:
    """The gradients of attention, which may be summed in any order; slow, since it must compile them."""
    environment = {**os.environ, "DABP_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert said[0].stdout == said[1].stdout
    assert list(tmp_path.rglob("*.nbi"))
