"""Installations without the packages that only some have: what works there, and the sentence for what does not."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from dabp.errors import MissingPackageError
from dabp.packages import COMMANDS, installed, require
from dabp.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

OPTIONAL = ("torch", "pytoulbar2", "highspy", "matplotlib", "scipy", "h5py", "cma", "distributed", "pandas", "networkx")
"""What a bare installation does not have."""

BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run(folder: Path, modules: tuple[str, ...], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run Python where some modules cannot be imported, in child processes neither."""
    (folder / "sitecustomize.py").write_text(BLOCKER.format(modules=frozenset(modules)), encoding="utf-8")
    paths = [str(folder), str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


def printed(folder: Path, modules: tuple[str, ...], script: str) -> list[str]:
    """The lines that a script prints there; it must end well."""
    done = run(folder, modules, ["-c", f"import dabp\nfrom tests.smoke import problem, solve_with\n{script}"])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_solver_runs_without_pytorch(tmp_path: Path) -> None:
    """Two iterations of each where PyTorch cannot be imported."""
    names = sorted(SOLVERS)
    assert printed(tmp_path, ("torch",), f"solve_with({names!r})") == names


def test_auto_says_that_nobody_searches_for_a_proof(tmp_path: Path) -> None:
    """In one note of the result, and only where toulbar2 would have taken part and nobody else proved the answer."""
    script = """
dabp.solve(problem(), max_iterations=2)  # loads the kernels
for prove in (True, False):
    result = dabp.solve(problem(), time_limit=1.0, params={"prove": prove})
    assert result.cost == problem().cost(result.assignment)
    print(result.status.value, sum("toulbar2 is not installed" in note for note in result.notes))
"""
    assert printed(tmp_path, OPTIONAL, script) == ["LIMIT 1", "LIMIT 0"]


def test_a_conflict_is_found_without_toulbar2(tmp_path: Path) -> None:
    """Three of four variables that must all differ have two values: proved and minimal by elimination."""
    script = """
model = dabp.Model()
for name in "abcd":
    model.add_variable(name, [0, 1] if name != "d" else [0, 1, 2])
for x, y in ("ab", "bc", "ac", "cd"):
    model.forbid([x, y], lambda x, y: x == y)
found = dabp.conflict(model, time_limit=10.0)
print(found.proved, found.minimal, len(found.constraints))
"""
    assert printed(tmp_path, OPTIONAL, script) == ["True True 3"]


@pytest.fixture
def colouring(tmp_path: Path) -> Path:
    """A triangle of two colours as a file."""
    path = tmp_path / "p.wcsp"
    path.write_text("p 2 2 1 9\n2 2\n2 0 1 0 2\n0 0 1\n1 1 1\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "FILE", "-s", "toulbar2"], "solver 'toulbar2' needs pytoulbar2, which is not installed; install it"),
        (["solve", "FILE", "-s", "toulbar2-vns"], "solver 'toulbar2-vns' needs pytoulbar2, which is not installed"),
        (
            ["lab", "train-gat-pcm", "w.safetensors"],
            "the cost model needs PyTorch, which is not installed; install it with",
        ),
        (
            ["lab", "train-policy", "p.json"],
            "needs cma, which is not installed; install it with `pip install 'dabp[training]'",
        ),
        (["plot", "problem", "FILE", "-o", "p.png"], "a picture needs Matplotlib, which is not installed; install it"),
        (["info", "p.h5"], "needs h5py, which is not installed; install it with `pip install 'dabp[opengm]'`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_missing_is_one_sentence(tmp_path: Path, colouring: Path, arguments: list[str], sentence: str) -> None:
    """With the reason and the command, and exit code 2."""
    (tmp_path / "p.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    words = [str(colouring) if word == "FILE" else word for word in arguments]
    done = run(tmp_path, OPTIONAL, ["-m", "dabp", *words])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_the_list_of_solvers_marks_what_is_not_installed(tmp_path: Path) -> None:
    """toulbar2's four and the one of HiGHS, and no other."""
    done = run(tmp_path, OPTIONAL, ["-m", "dabp", "solvers"])
    marked = [line.split()[1] for line in done.stdout.splitlines() if "(not installed)" in line]
    assert marked == [name for name, line in SOLVERS.items() if line.needs]


def test_the_command_names_an_extra_that_brings_the_package() -> None:
    """A sentence that names the wrong extra would send people in a circle."""
    extras = PROJECT["optional-dependencies"]
    for module, (_, command) in COMMANDS.items():
        if "dabp[" in command:
            extra = command.partition("[")[2].partition("]")[0]
            assert module in {Requirement(line).name for line in extras[extra]}


def test_a_package_is_installed_or_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is here passes, one that is not is a `MissingPackageError`."""
    require("scipy", "a test")
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert not installed("scipy")
    with pytest.raises(MissingPackageError, match=r"a test needs SciPy, .* `pip install 'dabp\[experiments\]'`$"):
        require("scipy", "a test")


LINUX = {"sys_platform": "linux", "platform_release": "6.8.0-1015-aws", "platform_version": "#1 SMP Debian 6.1.1"}
DARWIN = {"sys_platform": "darwin", "platform_machine": "arm64"}


@pytest.mark.parametrize(
    ("platform", "required"),
    [
        (LINUX | {"platform_machine": "x86_64"}, True),
        (LINUX | {"platform_machine": "aarch64"}, True),
        (LINUX | {"platform_machine": "riscv64"}, False),
        (DARWIN | {"platform_version": "Darwin Kernel Version 25.0.0: root:xnu"}, True),
        (DARWIN | {"platform_version": "Darwin Kernel Version 23.6.0: root:xnu"}, True),
        (DARWIN | {"platform_version": "Darwin Kernel Version 22.6.0: root:xnu"}, False),
        (DARWIN | {"platform_version": "Darwin Kernel Version 24.6.0: root:xnu", "platform_machine": "x86_64"}, False),
        ({"sys_platform": "win32", "platform_machine": "AMD64", "platform_version": "10.0.22631"}, False),
        (LINUX | {"platform_machine": "x86_64", "python_version": "3.15"}, False),
    ],
)
def test_toulbar2_is_required_where_it_has_wheels(platform: dict[str, str], required: bool) -> None:
    """Elsewhere the installation of dabp would fail for it."""
    [line] = [line for line in map(Requirement, PROJECT["dependencies"]) if line.name == "pytoulbar2"]
    assert isinstance(line.marker, Marker)
    assert line.marker.evaluate({"python_version": "3.12", **platform}) is required
