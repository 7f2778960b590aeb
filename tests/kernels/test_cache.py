"""Compiled kernels are kept by the version of their sources, wherever there is room, for any number of processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dabp.kernels import cache

CALLED = """
from dabp.kernels.decorators import kernel

@kernel
def inner(x):
    return x + {added}
"""
CALLER = """
from dabp.kernels.{folder}.called import inner
from dabp.kernels.decorators import kernel

@kernel
def outer(x):
    return 10 * inner(x)
"""
COUNT = """
import sys
from dabp.kernels.compilation import compilation
compiled = []
begin = compilation.begin
compilation.begin = lambda: (compiled.append(1), begin())
from dabp.kernels.{folder}.caller import outer
print(outer({argument}), len(compiled))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may change, with one kernel that calls another."""
    source = Path(cache.__file__).parents[1]
    shutil.copytree(source, tmp_path / "src" / "dabp", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "src" / "dabp" / "kernels" / "tried"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "called.py").write_text(CALLED.format(added=1))
    (folder / "caller.py").write_text(CALLER.format(folder="tried"))
    return tmp_path


def run(package: Path, argument: str = "1", **environment: str) -> list[str]:
    """What the outer kernel gives, and how many functions were compiled for it."""
    code = COUNT.format(folder="tried", argument=argument)
    variables = {**os.environ, "PYTHONPATH": str(package / "src"), "DABP_CACHE_DIR": str(package / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**variables, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.slow
def test_a_changed_kernel_makes_its_callers_anew(package: Path) -> None:
    """Slow, since it compiles: the second process loads, and after a change of the called kernel the caller follows."""
    assert run(package) == ["20", "2"]
    assert run(package) == ["20", "0"]
    (package / "src" / "dabp" / "kernels" / "tried" / "called.py").write_text(CALLED.format(added=2))
    assert run(package)[0] == "30"


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_harm_each_other(package: Path) -> None:
    """Slow, since it compiles: four add forms of one kernel at the same time, and each finds its own later."""
    arguments = {"1": "20", "1.5": "25.0", "True": "20", "2j": "(10+20j)"}
    code = COUNT.format(folder="tried", argument="{}")
    variables = {**os.environ, "PYTHONPATH": str(package / "src"), "DABP_CACHE_DIR": str(package / "cache")}
    at_once = [
        subprocess.Popen([sys.executable, "-c", code.format(argument)], env=variables, stdout=subprocess.DEVNULL)
        for argument in arguments
    ]
    assert [process.wait() for process in at_once] == [0] * len(at_once)
    assert {argument: run(package, argument) for argument in arguments} == {
        argument: [wanted, "0"] for argument, wanted in arguments.items()
    }


def test_the_folder_is_one_that_can_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As asked for; without a home that can be written to, a folder of the user's own among the temporary files."""
    monkeypatch.setattr(cache, "folder", cache.folder.__wrapped__)
    monkeypatch.setenv("DABP_CACHE_DIR", str(tmp_path / "asked"))
    assert cache.folder() == tmp_path / "asked"
    monkeypatch.delenv("DABP_CACHE_DIR")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chosen = cache.folder()
    assert chosen.parent == tmp_path
    assert chosen.stat().st_mode & 0o077 == 0


def test_versions_follow_what_is_imported() -> None:
    """Every kernel module's version depends on the decorators; each module's closure is its own."""
    modules = [path for path in cache.ROOT.rglob("*.py") if path.name != "__init__.py"]
    versions = {cache.version(path) for path in modules}
    assert len(versions) == len(modules)
    decorators = cache.ROOT / "decorators.py"
    users = [path for path in modules if "dabp.kernels.decorators" in path.read_text(encoding="utf-8")]
    assert all(decorators in cache._closure(path) for path in users)


def test_unused_versions_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old ones only, and nothing that is not ours."""
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    for name in ("min_sum-0123456789abcdef", "min_sum-fedcba9876543210", "notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.nbc").touch()
    for name in ("min_sum-0123456789abcdef", "notes"):
        os.utime(tmp_path / name / "kernel.nbc", (0, 0))
    cache.throw_away_unused()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["min_sum-fedcba9876543210", "notes"]
