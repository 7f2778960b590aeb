"""``dabp doctor``: what a solve needs, and whether it is here."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from dabp import __version__
from dabp.errors import DabpError
from dabp.packages import COMMANDS, installed

Check = tuple[str, str, bool]
"""What was looked at, what was found, and whether `dabp` works with it."""

NEEDED = ("numpy", "numba", "safetensors", "typer", "rich")
"""Packages that `dabp` does not work without; the others are those of `dabp.packages`."""


def doctor(
    compile_: Annotated[
        bool, typer.Option("--compile", help="Compile all kernels that did not come with the package (some minutes).")
    ] = False,
) -> None:
    """Check versions, threads, device, compiled kernels, toulbar2 and write access."""
    if compile_:
        _compile()
        return
    from dabp.driver.arguments import available_cores

    checks = [
        ("dabp", __version__, True),
        ("python", platform.python_version(), True),
        ("cores", str(available_cores()), True),
        *(_package(name) for name in (*NEEDED, *COMMANDS)),
        *_kernels(),
        *_device(),
        _writable(),
    ]
    for what, found, good in checks:
        print(f"{'ok  ' if good else 'FAIL'} {what:14s} {found}")
    if not all(good for _, _, good in checks):
        raise typer.Exit(1)


def _compile() -> None:
    """Compile all kernels for this machine, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from dabp.kernels import cache
    from dabp.solvers import kernel_build

    if (level := kernel_build.shipped()) is not None:
        print(f"all kernels came with the package, compiled for {level}: nothing is left to do")
        return
    if (place := cache.folder()) is None:
        raise DabpError("there is no folder that compiled kernels could be kept in; set DABP_CACHE_DIR to one")
    columns = (TextColumn("compiling kernels"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("compile", visible=False)  # until the first is compiled
        failed = kernel_build.compile_for_user(
            lambda done, count: bar.update(task, completed=done, total=count, visible=True)
        )
    if failed:
        raise DabpError(f"these kernels did not compile: {', '.join(failed)}; the lines above say why")
    print(f"all kernels are compiled, in {place}")


def _package(name: str) -> Check:
    """The version of a package; an optional one may be missing, but not broken."""
    try:
        return name, importlib.metadata.version(name), installed(name)
    except importlib.metadata.PackageNotFoundError:
        return name, "not installed" + (f": {COMMANDS[name][1]}" if name in COMMANDS else ""), name in COMMANDS


def _kernels() -> list[Check]:
    """Whether compiled kernels came with the package, and whether the user's folder has what did not."""
    try:
        from dabp.kernels import cache
    except ImportError as error:
        return [("kernels", f"numba does not load: {error}", False)]
    from dabp.solvers import kernel_build

    advice = "`dabp doctor --compile` compiles them, or each is compiled when it is first needed"
    if (level := kernel_build.shipped()) is not None:
        checks: list[Check] = [("kernels", f"came with the package, compiled for {level}", True)]
    elif (place := cache.folder()) is not None and kernel_build.is_complete(place, kernel_build.native()):
        checks = [("kernels", f"compiled for this machine, in {place}", True)]
    else:
        checks = [("kernels", f"not compiled for this processor, Python, Numba and source; {advice}", True)]
    places = [*(cache.SHIPPED / level for level in cache.levels()), *([cache.folder()] if cache.folder() else [])]
    for place in places:
        if place is not None and (bad := cache.damaged(place)):
            checks.append(("kernels", f"{len(bad)} damaged in {place}, the first is {bad[0].name}; {advice}", False))
    return checks


def _device() -> list[Check]:
    """The device of PyTorch, in a process of its own, if PyTorch is installed."""
    if not installed("torch"):
        return []
    code = "import torch; print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else 'cpu (no GPU found)')"
    root = Path(sys.executable).anchor  # a folder that exists
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [("device", done.stdout.strip(), True)]
    lines = done.stderr.strip().splitlines()
    return [("device", f"torch does not load: {lines[-1] if lines else f'exit code {done.returncode}'}", False)]


def _writable() -> Check:
    folder = "this folder"
    try:
        folder = os.getcwd()
        with tempfile.TemporaryFile(dir=folder):
            return "write access", folder, True
    except OSError as error:
        return "write access", f"{folder}: {error.strerror}", False
