"""The build compiles every kernel that any solver calls, and knows when it has nothing to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dabp.kernels import cache
from dabp.solvers import every_kernel, kernel_build

EVERY = 9
"""Every ninth solve of `compiled_kinds` is tried here; all of them with ``make kernels-complete``."""


def test_nothing_is_compiled_where_kernels_came_along(tmp_path: Path) -> None:
    """Problems of many kinds with an empty folder of the user: what comes with the package serves them all."""
    if kernel_build.shipped() is None:
        pytest.skip("this checkout has no compiled kernels; `make kernels` compiles them")
    command = [sys.executable, "-m", "tests.solvers.compiled_kinds", str(EVERY)]
    environment = {**os.environ, "DABP_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_every_job_is_in_one_chain() -> None:
    """Otherwise it would not be compiled, or twice."""
    assert sorted(job for chain in every_kernel.CHAINS for job in chain) == sorted(every_kernel.JOBS)


PRETENDING = """
import os, pathlib, sys
place = pathlib.Path(os.environ["DABP_KERNELS_BUILD"])
for job in sys.argv[2:]:
    if job == {fatal!r}:
        sys.exit(1)
    (place / f"{{job}}.kernel").write_bytes(bytes(32))
    print(job, flush=True)
"""
"""Does what the processes of a build do but for the compiling, and dies of one job."""


@pytest.fixture
def pretending(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Lets a build pretend to compile; the argument is the job that fails."""
    real = subprocess.Popen

    def pretend(fatal: str) -> None:
        code = PRETENDING.format(fatal=fatal)
        monkeypatch.setattr(
            kernel_build.subprocess,
            "Popen",
            lambda command, **options: real(
                [sys.executable, "-c", code, *command[command.index("--jobs") :]], **options
            ),
        )

    return pretend


def test_a_build_is_complete_once(tmp_path: Path, pretending, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """All jobs are reported; a second build has nothing to do; changed sources are built anew and old files removed."""
    monkeypatch.setattr(cache, "damaged", lambda place: [])
    pretending("")
    reported: list[tuple[int, int]] = []
    level = tmp_path / "level"
    assert kernel_build.compile_for_package(tmp_path, "level", lambda *counts: reported.append(counts)) == []
    assert sorted(reported)[-1] == (len(every_kernel.JOBS), len(every_kernel.JOBS))
    assert kernel_build.is_complete(level, "level")
    assert not kernel_build.is_complete(level, "another level")
    (level / "of earlier sources.kernel").touch()
    os.utime(level / "of earlier sources.kernel", (0, 0))
    assert kernel_build.compile_for_package(tmp_path, "level", lambda *counts: pytest.fail("built again")) == []
    monkeypatch.setattr(kernel_build, "stamp", lambda target: "changed sources")
    assert kernel_build.compile_for_package(tmp_path, "level", lambda *counts: None) == []
    assert not (level / "of earlier sources.kernel").exists()
    assert (level / "bp.kernel").exists()


def test_a_job_that_fails_leaves_the_build_incomplete(tmp_path: Path, pretending) -> None:  # type: ignore[no-untyped-def]
    """It is named, with what came after it in its chain; the other chains are compiled."""
    chain = max(every_kernel.CHAINS, key=len)
    pretending(chain[1])
    failed = kernel_build.compile_for_package(tmp_path, "level", lambda *counts: None)
    assert set(failed) == set(chain[1:])
    assert not kernel_build.is_complete(tmp_path / "level", "level")


def test_a_damaged_file_makes_a_build_incomplete(tmp_path: Path) -> None:
    """The marker alone does not count."""
    cache.write(tmp_path / "one.kernel", b"code")
    (tmp_path / kernel_build.COMPLETE).write_text(kernel_build.stamp("level"), encoding="utf-8")
    assert kernel_build.is_complete(tmp_path, "level")
    (tmp_path / "one.kernel").write_bytes(b"damaged")
    assert not kernel_build.is_complete(tmp_path, "level")


def test_a_level_beyond_this_processor_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence, since its code could not be run here."""
    assert kernel_build.main([str(tmp_path), "x86-64-v9"]) == 1
    assert "cannot compile for x86-64-v9" in capsys.readouterr().err
