"""`auto` with an empty kernel cache answers from what needs none, and leaves no process behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COLD = """
import json
import psutil
import dabp

problem = dabp.generate("random-cop", variables=40, domain=8, density=0.4, seed=5)
result = dabp.solve(problem, "auto", time_limit=3.0)
children = [child.cmdline() for child in psutil.Process().children(recursive=True)]
guess = float(problem.cost([0] * 40))
print(json.dumps([result.cost, guess, result.status.value, list(result.notes), children]))
"""


@pytest.mark.slow
def test_an_empty_cache_has_an_answer_and_says_what_is_missing(tmp_path: Path) -> None:
    """Slow, since it solves for three seconds: better than all zeros by far, a note, and nothing left running."""
    environment = {**os.environ, "DABP_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    cost, guess, status, notes, children = json.loads(done.stdout)
    assert status == "LIMIT"
    assert cost < 0.8 * guess
    assert any("kernels were compiled beside the search" in note for note in notes)
    assert children == []
