"""What the shell is offered, asked as a shell asks: through the environment of a call of the program."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dabp.formats import FORMATS
from dabp.lab.generators import GENERATORS
from dabp.solvers import SOLVERS, parameters

PROGRAM = "import sys; sys.argv = ['dabp']; from dabp.cli import main; main()"


def offered(*words: str) -> set[str]:
    """What bash is told after these words, the last one half typed."""
    environment = {
        **os.environ,
        "_DABP_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("dabp", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("solve", "p.xml", "--solver", "toul"), {name for name in SOLVERS if name.startswith("toul")}),
        (("solvers", "d"), {name for name in SOLVERS if name.startswith("d")}),
        (("generate", "s"), {name for name in GENERATORS if name.startswith("s")}),
        (("info", "p", "--format", "w"), {name for name in FORMATS if name.startswith("w")}),
        (("solve", "p.xml", "--solver", "dbp", "--param", "dam"), {"damping="}),
        (("generate", "ising", "--param", "row"), {"row_count="}),
        (("generate", "nothing", "--param", "row"), set()),
        (("solve", "p.xml", "--solver", "nobody", "--param", "d"), set()),
        (("sol",), {"solve", "solvers"}),
    ],
)
def test_names_that_begin_so_are_offered(words: tuple[str, ...], names: set[str]) -> None:
    """Solvers, families, formats, commands, and the parameters of the solver that was named."""
    assert offered(*words) == names


def test_without_a_solver_the_parameters_are_those_of_auto() -> None:
    """Which is the default."""
    assert offered("solve", "p.xml", "--param", "") == {f"{name}=" for name in parameters("auto")}
