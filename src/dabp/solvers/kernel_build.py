"""Compiling all kernels: for the package when it is built, or for the user's folder (``dabp doctor --compile``).

``python -m dabp.solvers.kernel_build FOLDER LEVEL`` is what the build hook runs (`hatch_build.py`): it fills
``FOLDER/LEVEL`` with code for a portable level of the processor and removes what is there from earlier sources.
"""

from __future__ import annotations

import gc
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dabp.kernels import cache
from dabp.kernels.compiler import binding
from dabp.solvers import every_kernel

Progress = Callable[[int, int], None]
"""Called with the number of jobs done and of all jobs, from any thread."""

COMPLETE = "complete"
"""Name of the file that holds the stamp of a complete folder."""

_QUIET = {"NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}
"""Numba colours its message about every signature that it tries and drops, which takes time."""

COLLECTION_OBJECTS = 50_000
"""New objects before a garbage collection: Python's default takes a tenth of the time of compiling."""


def stamp(target: str) -> str:
    """A digest of the sources of kernels and of `every_kernel`, of the versions that compile them, of the target."""
    sources = sorted(set(cache.ROOT.rglob("*.py")) - {Path(cache.__file__)})
    versions = [cache.version(path) for path in sources] + [Path(every_kernel.__file__).read_text(encoding="utf-8")]
    return hashlib.sha256(repr((versions, cache.surroundings(), target)).encode()).hexdigest()


def is_complete(place: Path, target: str) -> bool:
    """Whether a folder holds all kernels of these sources for a level or a processor, none of them damaged."""
    try:
        known = (place / COMPLETE).read_text(encoding="utf-8")
    except OSError:
        return False
    return known == stamp(target) and not cache.damaged(place)


def shipped() -> str | None:
    """The level for which the package contains all kernels, if this processor runs it."""
    return next((level for level in cache.levels() if is_complete(cache.SHIPPED / level, level)), None)


def native() -> str:
    """The processor of this machine, for which the user's folder is filled."""
    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


def compile_for_package(folder: Path, level: str, progress: Progress) -> list[str]:
    """Fill ``folder/level``; return the jobs that failed."""
    place = folder / level
    if is_complete(place, level):
        return []
    place.mkdir(parents=True, exist_ok=True)
    (place / COMPLETE).unlink(missing_ok=True)
    for path in cache.damaged(place):
        path.unlink()
    started = time.time() - 1.0  # file systems round times
    target = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", cache.BUILD_FOLDER: str(place)}
    if failed := _run_all(target, progress):
        return failed
    for path in place.iterdir():  # what only kernels call is part of the code of these
        if path.stat().st_mtime < started or path.name.endswith(cache.INNER_SUFFIX):
            path.unlink()
    (place / COMPLETE).write_text(stamp(level), encoding="utf-8")
    return []


def compile_for_user(progress: Progress) -> list[str]:
    """Fill the user's folder for this machine's processor; return the jobs that failed."""
    place = cache.folder()
    if place is None or is_complete(place, native()):
        return []
    cache.remove_unused(place)
    if failed := _run_all({cache.BUILD_FOLDER: str(place)}, progress):
        return failed
    (place / COMPLETE).write_text(stamp(native()), encoding="utf-8")
    return []


def _run_all(environment: dict[str, str], progress: Progress) -> list[str]:
    """Run all chains, each in a process of its own, as many at a time as there are cores; return failed jobs."""
    done: list[str] = []

    def run(chain: tuple[str, ...]) -> None:
        command = [sys.executable, *["-" + "O" * sys.flags.optimize] * bool(sys.flags.optimize), "-m", __spec__.name]
        with subprocess.Popen(
            [*command, "--jobs", *chain],
            env={**os.environ, **_QUIET, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                done.append(line.strip())
                progress(len(done), len(every_kernel.JOBS))

    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        list(threads.map(run, every_kernel.CHAINS))
    return [job for job in every_kernel.JOBS if job not in done]


def _run_jobs(jobs: list[str]) -> None:
    """Run jobs one after the other and print the name of each that is done."""
    gc.set_threshold(COLLECTION_OBJECTS)
    for job in jobs:
        every_kernel.JOBS[job]()
        sys.stdout.write(f"{job}\n")
        sys.stdout.flush()


def main(words: list[str]) -> int:
    """``FOLDER LEVEL``, or ``--jobs NAME …`` for the processes that this starts."""
    if words[0] == "--jobs":
        _run_jobs(words[1:])
        return 0
    folder, level = Path(words[0]), words[1]
    if level not in cache.host_levels():
        sys.stderr.write(f"this processor cannot compile for {level}; it can for {', '.join(cache.host_levels())}\n")
        return 1

    def progress(done: int, count: int) -> None:
        sys.stdout.write(f"{done} {count}\n")
        sys.stdout.flush()

    failed = compile_for_package(folder, level, progress)
    if failed:
        sys.stderr.write(f"these kernels did not compile: {', '.join(failed)}; the lines above say why\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
