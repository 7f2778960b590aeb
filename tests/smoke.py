"""What an installation must do at least: every solver, the command line, and nothing compiled.

``python tests/smoke.py`` checks the dabp that is installed, whatever packages are beside it; ``make wheel`` runs it on
a fresh wheel. ``--bare`` also demands that none of the optional packages is there (``make test-bare``); ``--compiled``
that every kernel came compiled with the package.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import dabp
from dabp.compiling import compiling
from dabp.packages import COMMANDS, installed
from dabp.solvers import SOLVERS

EXAMPLE = Path(__file__).parents[1] / "examples" / "frequencies.cfn"


def problem() -> dabp.Problem:
    """Neither narrow nor small enough to be solved exactly before a search begins."""
    rng = np.random.default_rng(7)
    pairs = [(i, j) for i in range(40) for j in range(i) if rng.random() < 0.25]
    return dabp.Problem.from_tables([3] * 40, [(pair, rng.random((3, 3))) for pair in pairs])


def solve_with(names: list[str]) -> None:
    """Two iterations of each solver, one second of those that count none; print the names."""
    solved = problem()
    for name in names:
        limit = {"time_limit": 1.0} if name.startswith("toulbar2") else {"max_iterations": 2}
        result = dabp.solve(solved, name, seed=1, **limit)  # type: ignore[arg-type]
        assert result.assignment is not None
        assert result.cost == solved.cost(result.assignment), name
        sys.stdout.write(f"{name}\n")


def command(folder: Path, *words: str, code: int = 0) -> str:
    """What ``dabp WORDS`` prints, on both streams; it must end with this code."""
    done = subprocess.run([sys.executable, "-m", "dabp", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def command_line(folder: Path) -> None:
    """Help, a solve, and one sentence for whatever needs a package that is not installed."""
    dabp.write(problem(), folder / "p.cfn")
    assert "solver" in command(folder, "--help")
    assert "40" in command(folder, "info", "p.cfn")
    assert "FAIL" not in command(folder, "doctor")
    assert "cost" in command(folder, "solve", "p.cfn", "--time", "2")
    if EXAMPLE.exists():
        assert "OPTIMAL" in command(folder, "solve", str(EXAMPLE), "--time", "10").upper()
    assert command(folder, "solvers").count("(not installed)") == sum(not one.installed for one in SOLVERS.values())
    lacking = {
        "pytoulbar2": ("needs pytoulbar2", ("solve", "p.cfn", "-s", "toulbar2")),
        "matplotlib": ("dabp[plots]", ("plot", "problem", "p.cfn", "-o", "p.png")),
        "torch": ("dabp[torch]", ("lab", "train-gat-pcm", "w.safetensors")),
    }
    for module, (sentence, words) in lacking.items():
        if not installed(module):
            assert sentence in command(folder, *words, code=2)
    sys.stdout.write("the command line\n")


def main(options: list[str]) -> None:
    """Check what was asked for."""
    if "--bare" in options:
        found = [module for module in COMMANDS if installed(module)]
        assert not found, f"this environment is not bare, it has {', '.join(found)}"
    solve_with(sorted(name for name in SOLVERS if SOLVERS[name].installed))
    with tempfile.TemporaryDirectory() as name:
        command_line(Path(name))
    if "--compiled" in options:
        assert compiling.seconds == 0, (
            f"{compiling.seconds:.1f} s went into compiling kernels that should have come along"
        )
        sys.stdout.write("no kernel was compiled\n")


if __name__ == "__main__":
    main(sys.argv[1:])
