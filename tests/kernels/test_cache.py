"""Compiled kernels: found by what they depend on, compiled again where that changed or the file is damaged."""

from __future__ import annotations

import os
import shutil
import stat
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
from dabp.kernels.tried.called import inner
from dabp.kernels.decorators import kernel

@kernel
def outer(x):
    return 10 * inner(x)
"""
COUNT = """
import sys, warnings
from dabp.compiling import compiling
compiled = []
begin = compiling.begin
compiling.begin = lambda: (compiled.append(1), begin())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from dabp.kernels.tried.caller import outer
    print(outer({argument}), len(compiled), len(caught))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may change, with one kernel that calls another, and nothing compiled."""
    source = Path(cache.__file__).parents[1]
    shutil.copytree(source, tmp_path / "src" / "dabp", ignore=shutil.ignore_patterns("__pycache__", "compiled"))
    folder = tmp_path / "src" / "dabp" / "kernels" / "tried"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "called.py").write_text(CALLED.format(added=1))
    (folder / "caller.py").write_text(CALLER)
    return tmp_path


def start(package: Path, argument: str = "1", before: str = "", **environment: str) -> subprocess.Popen[str]:
    """A process that calls the outer kernel, after the code `before`."""
    variables = {**os.environ, "PYTHONPATH": str(package / "src"), "DABP_CACHE_DIR": str(package / "cache")}
    command = [sys.executable, "-c", before + COUNT.format(argument=argument)]
    return subprocess.Popen(command, env={**variables, **environment}, stdout=subprocess.PIPE, text=True)


def run(package: Path, argument: str = "1", before: str = "", **environment: str) -> list[str]:
    """The result of the outer kernel, how many functions were compiled for it, and the number of warnings."""
    process = start(package, argument, before, **environment)
    printed, _ = process.communicate()
    assert process.returncode == 0
    return printed.split()


def test_a_changed_kernel_makes_its_callers_anew(package: Path) -> None:
    """The second process loads; after a change of the called kernel the caller follows."""
    assert run(package) == ["20", "2", "0"]
    assert run(package) == ["20", "0", "0"]
    (package / "src" / "dabp" / "kernels" / "tried" / "called.py").write_text(CALLED.format(added=2))
    assert run(package)[0] == "30"


def test_processes_that_compile_at_once_do_not_harm_each_other(package: Path) -> None:
    """Four add forms of one kernel at the same time, and each finds its own later."""
    arguments = {"1": "20", "1.5": "25.0", "True": "20", "2j": "(10+20j)"}
    at_once = [start(package, argument) for argument in arguments]
    for process in at_once:
        process.communicate()
        assert process.returncode == 0
    assert {argument: run(package, argument) for argument in arguments} == {
        argument: [wanted, "0", "0"] for argument, wanted in arguments.items()
    }


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped", "text"])
def test_a_damaged_file_is_compiled_again_with_one_warning(package: Path, damage: str) -> None:
    """Whatever happened to it; the next process finds a sound one."""
    run(package)
    for path in (package / "cache").glob("*.kernel"):
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(
            {
                "empty": b"",
                "truncated": whole[:middle],
                "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
                "text": b"not compiled code",
            }[damage]
        )
    assert len(cache.damaged(package / "cache")) == 2
    assert run(package) == ["20", "2", "1"]
    assert run(package) == ["20", "0", "0"]


def test_a_full_disk_ends_nothing(package: Path) -> None:
    """What cannot be saved is used and forgotten: a limit on the size of files stands for a full disk."""
    if sys.platform == "win32":
        pytest.skip("no limits on files")
    (package / "cache").mkdir(mode=0o700)
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    assert run(package, before=limit, PYTHONDONTWRITEBYTECODE="1") == ["20", "2", "0"]
    assert list((package / "cache").iterdir()) == []


def test_what_changes_machine_code_changes_the_name(package: Path) -> None:
    """Bounds checks and another processor are other machine code."""
    assert run(package)[1] == "2"
    assert run(package, NUMBA_BOUNDSCHECK="1")[1] == "2"
    assert run(package, NUMBA_CPU_NAME="generic")[1] == "2"
    assert run(package)[1] == "0"


def test_kernels_work_without_a_compiler(package: Path) -> None:
    """With Numba switched off they are Python."""
    assert run(package, NUMBA_DISABLE_JIT="1") == ["20", "0", "0"]


def test_an_unknown_numba_keeps_compiled_code_in_its_own_way(package: Path) -> None:
    """Where a private part of Numba is gone that files are made with, its own cache is used; results are the same."""
    hidden = "import numba.core.compiler as c; reduce = c.CompileResult._reduce; del c.CompileResult._reduce\n"
    hidden += "import dabp.kernels.compiler; c.CompileResult._reduce = reduce\n"
    for compiled in ("2", "0"):
        assert run(package, before=hidden, NUMBA_CACHE_DIR=str(package / "numba")) == ["20", compiled, "0"]
    assert list((package / "numba").rglob("*.nbi"))


def test_a_folder_that_others_can_change_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code is executed: not from a folder that the group or everybody writes to, whoever named it."""
    if sys.platform == "win32":
        pytest.skip("folders of users are their own")
    monkeypatch.setattr(cache, "folder", cache.folder.__wrapped__)
    given = tmp_path / "given"
    monkeypatch.setenv("DABP_CACHE_DIR", str(given))
    assert cache.folder() == given
    assert stat.S_IMODE(given.stat().st_mode) == 0o700
    for mode in (0o770, 0o707, 0o777):
        given.chmod(mode)
        with pytest.warns(UserWarning, match="other users can change"):
            assert cache.folder() is None
    given.chmod(0o755)
    assert cache.folder() == given
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(UserWarning, match="other users can change"):
        assert cache.folder() is None


def test_a_file_of_another_user_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may be exchanged after it was checked: each file is checked when it is open, before it is read."""
    if sys.platform == "win32":
        pytest.skip("folders of users are their own")
    path = tmp_path / "a.kernel"
    cache.write(path, b"content")
    assert cache.read(path) == b"content"
    path.chmod(0o666)
    assert cache.read(path) is None
    path.chmod(0o644)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert cache.read(path) is None
    monkeypatch.setattr(cache, "SHIPPED", tmp_path)  # the owner of an installation may be anybody
    assert cache.read(path) == b"content"


def test_the_folder_is_one_that_can_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a home that can be written to, a folder of the user's own among the temporary files; else none."""
    monkeypatch.setattr(cache, "folder", cache.folder.__wrapped__)
    monkeypatch.delenv("DABP_CACHE_DIR", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    chosen = cache.folder()
    assert chosen is not None
    assert chosen.parent == tmp_path
    assert chosen.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("DABP_CACHE_DIR", str(blocked / "below a file"))
    assert cache.folder() is None


def test_versions_follow_what_is_imported() -> None:
    """Every kernel module's version depends on the decorators; each module's closure is its own."""
    modules = [path for path in cache.ROOT.rglob("*.py") if path.name != "__init__.py"]
    versions = {cache.version(path) for path in modules}
    assert len(versions) == len(modules)
    decorators = cache.ROOT / "decorators.py"
    users = [path for path in modules if "dabp.kernels.decorators" in path.read_text(encoding="utf-8")]
    assert all(decorators in cache.closure(path) for path in users)


def test_unused_files_go(tmp_path: Path) -> None:
    """Old ones only, and nothing that is not ours."""
    for name in ("old.kernel", "new.kernel", "notes"):
        (tmp_path / name).touch()
    for name in ("old.kernel", "notes"):
        os.utime(tmp_path / name, (0, 0))
    cache.remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.kernel", "notes"]


def test_levels_are_told_by_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """v4 needs all of v3; a processor without AVX2 has neither; other families have one level."""
    features = dict.fromkeys([one for names in cache.LEVELS.values() for one in names], True)
    monkeypatch.setattr(cache, "host_levels", cache.host_levels.__wrapped__)
    monkeypatch.setattr("dabp.kernels.cache.binding.get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    for missing, levels in ((None, ("x86-64-v4", "x86-64-v3")), ("avx512vl", ("x86-64-v3",)), ("avx2", ())):
        found = {**features, **({missing: False} if missing else {})}
        monkeypatch.setattr("dabp.kernels.cache.binding.get_host_cpu_features", lambda found=found: found)
        assert cache.host_levels() == levels
    monkeypatch.setattr("dabp.kernels.cache.binding.get_process_triple", lambda: "arm64-apple-darwin")
    assert cache.host_levels() == ("generic",)


def test_threads_may_enter_numba_at_once() -> None:
    """Twenty threads whose first act is a solve, by solvers that reach Numba through different modules."""
    code = """
import threading, numpy as np, dabp
table = np.arange(9.0).reshape(3, 3)
problem = dabp.Problem.from_tables([3] * 4, [((i, i + 1), table) for i in range(3)])
failed, gate = [], threading.Barrier(20)
def solve(name):
    gate.wait()
    try:
        dabp.solve(problem, name, max_iterations=2)
    except Exception as error:
        failed.append(f"{name}: {error!r}")
threads = [threading.Thread(target=solve, args=(name,)) for name in ("bp", "mbe", "tabu", "dual") * 5]
[one.start() for one in threads]
[one.join() for one in threads]
print(failed)
"""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
