"""Where compiled kernels are kept: once per machine and version of their sources, safe to share between processes.

Numba's own cache lies beside the sources, which may be read-only, notices a change of a kernel's own file only, and
can mix up two processes that add to one kernel at a time. Here a kernel's folder is named by a hash of its module's
source and of every kernel module that it imports, so that a change of a called kernel makes its callers anew and two
versions live side by side; additions are made under a lock.

The folder is ``DABP_CACHE_DIR`` (or ``NUMBA_CACHE_DIR``) if set, else the user's cache folder, else one of the user's
own among the temporary files.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.runtime import rtsys

from dabp.kernels.pipeline import Part, PartLibrary

ROOT = Path(__file__).parent
_IMPORT = re.compile(r"^\s*from (dabp\.kernels(?:\.\w+)*) import ([\w, ]+|\([\w,\s]+\))", re.MULTILINE)

BESIDE = (Path(__file__), ROOT / "compilation.py")
"""Modules that are no part of how code comes out: a change of these leaves what is compiled as it is."""

UNUSED_DAYS = 30
"""After so many days without use a version's kernels are thrown away when others are compiled."""


@functools.cache
def folder() -> Path:
    """The folder of all kernels on this machine: the first of the candidates that can be written to."""
    for candidate in _candidates():
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=candidate):
                return candidate
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="dabp-"))  # for this process alone


def _candidates() -> Iterator[Path]:
    for name in ("DABP_CACHE_DIR", "NUMBA_CACHE_DIR"):
        if given := os.environ.get(name):
            yield Path(given)
            return
    with contextlib.suppress(RuntimeError):  # a user without a home
        home = Path.home()
        if sys.platform == "win32":
            yield Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "dabp" / "kernels"
        elif sys.platform == "darwin":
            yield home / "Library" / "Caches" / "dabp" / "kernels"
        else:
            yield Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "dabp" / "kernels"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    shared = Path(tempfile.gettempdir()) / f"dabp-{user}"
    if not shared.exists() or not hasattr(os, "getuid") or shared.stat().st_uid == os.getuid():
        yield shared  # compiled code is loaded from it: never from a folder of somebody else's


@functools.cache
def version(path: Path) -> str:
    """A hash of a kernel module's source and of those it imports, directly or not."""
    sha = hashlib.sha256()
    for source in sorted(_closure(path)):
        sha.update(source.read_bytes())
    return sha.hexdigest()[:16]


def _closure(path: Path) -> set[Path]:
    """A module's file and the files of all kernel modules it needs."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        source = waiting.pop()
        if source in found:
            continue
        found.add(source)
        for module, names in _IMPORT.findall(source.read_text(encoding="utf-8")):
            base = ROOT.joinpath(*module.split(".")[2:])
            inside = [base / f"{name.strip()}.py" for name in names.strip("()").split(",")]
            waiting += [one for one in (base.with_suffix(".py"), *inside) if one.is_file() and one not in BESIDE]
    return found


class _Locator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):  # type: ignore[misc]
    """Numba's question where a function's compiled code lies, answered by the version of its sources."""

    def __init__(self, function: Callable[..., Any], file: str):
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._path = Path(file)

    def get_cache_path(self) -> str:
        """A folder for each version of a module."""
        try:
            place = ".".join(self._path.with_suffix("").relative_to(ROOT).parts)
        except ValueError:  # a kernel that somebody else has written
            place = self._path.stem
        return str(folder() / f"{place}-{version(self._path)}")

    def get_source_stamp(self) -> str:
        """The version is in the path already; copies of the package share what they have compiled."""
        return version(self._path)

    def get_disambiguator(self) -> str:
        """Functions of one name are told apart by their line."""
        return str(self._lineno)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        """Always this one."""
        return cls(function, file)


class _Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def reduce(self, compiled: Any) -> Any:
        """What is written: machine code of a kernel, and of a part what it is made of."""
        return Part.written(compiled) if isinstance(compiled.library, PartLibrary) else super().reduce(compiled)

    def rebuild(self, context: Any, payload: Any) -> Any:
        """What was written, ready to be called or linked."""
        return payload.read(context) if isinstance(payload, Part) else super().rebuild(context, payload)


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The compiled forms of one kernel; additions are made one process at a time."""

    _impl_class = _Implementation

    def load_overload(self, signature: Any, context: Any) -> Any:
        """A compiled form from the disk, without all that Numba loads beside it to be able to compile."""
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)

    def _save_overload(self, signature: Any, data: Any) -> None:
        self._impl.locator.ensure_cache_path()
        with locked(Path(self._cache_path) / "lock"):
            super()._save_overload(signature, data)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, where the system has such locks."""
    with open(path, "a", encoding="utf-8") as stream:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(stream, fcntl.LOCK_UN)


def throw_away_unused() -> None:
    """Remove versions whose kernels nobody has loaded for `UNUSED_DAYS`."""
    horizon = time.time() - UNUSED_DAYS * 86400
    for place in folder().iterdir():
        if not re.fullmatch(r"[\w.]+-[0-9a-f]{16}", place.name) or not place.is_dir():
            continue
        with contextlib.suppress(OSError):
            files = list(place.iterdir())
            if all(max(file.stat().st_atime, file.stat().st_mtime) < horizon for file in files):
                for file in files:
                    file.unlink()
                place.rmdir()
