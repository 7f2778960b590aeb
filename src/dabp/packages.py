"""Packages that not every installation of dabp has: whether one is here, and what to do if it is not."""

from __future__ import annotations

import importlib.util

from dabp.errors import MissingPackageError

COMMANDS = {
    "cma": ("cma", "`pip install 'dabp[training]'`"),
    "cpmpy": ("CPMpy", "`pip install 'dabp[cpmpy]'`"),
    "dimod": ("dimod", "`pip install 'dabp[dimod]'`"),
    "distributed": ("Dask", "`pip install 'dabp[dist]'`"),
    "h5py": ("h5py", "`pip install 'dabp[opengm]'`"),
    "highspy": ("HiGHS", "`pip install highspy`"),
    "matplotlib": ("Matplotlib", "`pip install 'dabp[plots]'`"),
    "pytoulbar2": (
        "pytoulbar2",
        "`pip install pytoulbar2` where it has wheels: Linux with glibc, macOS from 14 (Apple silicon) or 15 (Intel)",
    ),
    "scipy": ("SciPy", "`pip install 'dabp[experiments]'`"),
    "torch": ("PyTorch", "`pip install 'dabp[torch]'`"),
}
"""Module → the package's name for people, and the command that installs it."""


def installed(module: str) -> bool:
    """Whether a package can be found; it is not imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def require(module: str, purpose: str) -> None:
    """Raise `MissingPackageError` if a package of `COMMANDS` is not installed; `purpose` is what needs it."""
    if not installed(module):
        package, command = COMMANDS[module]
        raise MissingPackageError(f"{purpose} needs {package}, which is not installed; install it with {command}")
