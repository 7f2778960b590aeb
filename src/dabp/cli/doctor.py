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
from dabp.cli.options import available_cores
from dabp.errors import DabpError

PACKAGES = ("numpy", "numba", "torch", "pytoulbar2", "safetensors", "typer", "rich", "matplotlib", "distributed")


def doctor(
    compile_: Annotated[
        bool, typer.Option("--compile", help="compile all kernels now, so that no solve has to (about a minute)")
    ] = False,
) -> None:
    """Check versions, threads, device, kernel cache, toulbar2 and write access."""
    if compile_:
        _compile()
        return
    asked = _ask_torch()
    checks = [
        ("dabp", __version__, True),
        ("python", platform.python_version(), True),
        ("cores", str(available_cores()), True),
        *(_package(name) for name in PACKAGES),
        _kernels(),
        _toulbar2(),
        _writable(),
        _device(asked),
    ]
    for what, found, good in checks:
        print(f"{'ok  ' if good else 'FAIL'} {what:14s} {found}")
    if not all(good for _, _, good in checks):
        raise typer.Exit(1)


def _compile() -> None:
    """Make all kernels, with a bar where somebody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from dabp.kernels.cache import folder
    from dabp.solvers.compiler import make_all

    columns = (TextColumn("compiling kernels"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("compile", visible=False)  # until there is something to make
        failed = make_all(
            lambda done, whole: bar.update(task, completed=done, total=whole, visible=True), available_cores()
        )
    if failed:
        raise DabpError(f"these kernels did not compile: {', '.join(failed)}; the lines above say why")
    print(f"all kernels are compiled, in {folder()}")


def _package(name: str) -> tuple[str, str, bool]:
    try:
        return name, importlib.metadata.version(name), True
    except importlib.metadata.PackageNotFoundError:
        optional = name == "distributed"
        return name, "not installed" + (" (only for clusters: pip install 'dabp[dist]')" if optional else ""), optional


_TORCH = """
import ctypes, glob, importlib.util, os, re
folder = os.path.dirname(importlib.util.find_spec("torch").origin)
for library in sorted(glob.glob(os.path.join(folder, "lib", "*torch_cpu*"))):
    if library.endswith((".so", ".dylib", ".dll")):
        ctypes.CDLL(library)
with open(os.path.join(folder, "version.py"), encoding="utf-8") as source:
    plain = re.search(r"^cuda\\b.*= None$", source.read(), re.MULTILINE) is not None
if plain and not os.path.exists("/dev/kfd"):
    print("cpu (this PyTorch is built without CUDA)")
else:
    import torch
    print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu (no GPU found)")
"""
"""Loads PyTorch's library; all of PyTorch, which takes seconds, only where there may be a GPU to name."""


def _ask_torch() -> subprocess.Popen[str]:
    """Have PyTorch looked at in a process of its own, beside the other checks."""
    command = [sys.executable, "-c", _TORCH]
    root = Path(sys.executable).anchor  # a folder that is there
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _device(asked: subprocess.Popen[str]) -> tuple[str, str, bool]:
    found, complaint = asked.communicate()
    if asked.returncode == 0:
        return "device", found.strip(), True
    lines = complaint.strip().splitlines()
    return "device", f"torch does not load: {lines[-1] if lines else f'exit code {asked.returncode}'}", False


def _kernels() -> tuple[str, str, bool]:
    try:
        from dabp.kernels.cache import folder
    except ImportError as error:
        return "kernels", f"numba does not load: {error}", False
    from dabp.solvers.warming import JOBS, missing

    count = len(JOBS) - len(missing())
    state = "all compiled" if count == len(JOBS) else f"{count} of {len(JOBS)} parts compiled; --compile makes the rest"
    return "kernel cache", f"{state}, in {folder()}", True


def _toulbar2() -> tuple[str, str, bool]:
    try:
        import pytoulbar2

        return "toulbar2", str(Path(pytoulbar2.__file__).parent), True
    except ImportError as error:
        return "toulbar2", f"does not load: {error}", False


def _writable() -> tuple[str, str, bool]:
    folder = "this folder"
    try:
        folder = os.getcwd()
        with tempfile.TemporaryFile(dir=folder):
            return "write access", folder, True
    except OSError as error:
        return "write access", f"{folder}: {error.strerror}", False
