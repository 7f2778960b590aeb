"""``dabp doctor``: what a solve needs, and whether it is here."""

from __future__ import annotations

import importlib.metadata
import platform
import tempfile
from pathlib import Path

import typer

from dabp import __version__
from dabp.cli.options import available_cores

PACKAGES = ("numpy", "numba", "torch", "pytoulbar2", "safetensors", "typer", "rich", "matplotlib", "distributed")


def doctor() -> None:
    """Check versions, threads, device, kernel cache, toulbar2 and write access."""
    checks = [
        ("dabp", __version__, True),
        ("python", platform.python_version(), True),
        ("cores", str(available_cores()), True),
        *(_package(name) for name in PACKAGES),
        _device(),
        _kernels(),
        _toulbar2(),
        _writable(Path.cwd()),
    ]
    for what, found, good in checks:
        print(f"{'ok  ' if good else 'FAIL'} {what:14s} {found}")
    if not all(good for _, _, good in checks):
        raise typer.Exit(1)


def _package(name: str) -> tuple[str, str, bool]:
    try:
        return name, importlib.metadata.version(name), True
    except importlib.metadata.PackageNotFoundError:
        optional = name == "distributed"
        return name, "not installed" + (" (only for clusters: pip install 'dabp[dist]')" if optional else ""), optional


def _device() -> tuple[str, str, bool]:
    try:
        import torch
    except ImportError as error:
        return "device", f"torch does not load: {error}", False
    found = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu (no GPU found)"
    return "device", f"{found}, {torch.get_num_threads()} torch threads", True


def _kernels() -> tuple[str, str, bool]:
    try:
        from dabp.kernels.cache import folder
    except ImportError as error:
        return "kernels", f"numba does not load: {error}", False
    count = len(list(folder().glob("*/*.nbc")))
    return "kernel cache", f"{count} kernels in {folder()}" if count else f"{folder()} (compiled at first use)", True


def _toulbar2() -> tuple[str, str, bool]:
    try:
        import pytoulbar2

        return "toulbar2", str(Path(pytoulbar2.__file__).parent), True
    except ImportError as error:
        return "toulbar2", f"does not load: {error}", False


def _writable(folder: Path) -> tuple[str, str, bool]:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return "write access", str(folder), True
    except OSError as error:
        return "write access", f"{folder}: {error.strerror}", False
