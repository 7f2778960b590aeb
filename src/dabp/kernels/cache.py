"""Where compiled kernels lie: those that come with the package, and those that this machine has compiled.

A compiled form of a kernel is one file, named by a digest of all that its machine code depends on: the source of its
module and of every kernel module that this imports, Numba, LLVM, Python, the processor and the types of the arguments.
A lookup is one file name; nothing is shared between files, so that processes need no locks; a changed kernel and its
callers get new names. A file begins with the digest of its content: one that is damaged is compiled again.

`SHIPPED` holds what the build of the package compiled for portable levels of the processor (`LEVELS`). The user's
folder is ``DABP_CACHE_DIR`` if set, else the user's cache folder, else one among the temporary files. Files of
compiled code are executed, so a folder that another user owns or can write to is not used.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dabp.kernels.compiler import INSIDE_IS_KNOWN, CompileResult, binding, config, dumps, llvmlite, numba, rtsys

ROOT = Path(__file__).parent
SHIPPED = ROOT / "compiled"
"""Written by the build, one folder per level, never at run time."""

SUFFIX = ".kernel"

LEVELS = {
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
}
"""Portable levels of processors and the features that tell them in LLVM's words, the best first; v4 includes v3."""

GENERIC = "generic"
"""The level of processors of other families, which all have the vectors of their family (NEON on arm64)."""

BUILD_FOLDER = "DABP_KERNELS_BUILD"
"""The environment variable by which the build names the folder that compiled kernels are loaded from and written to."""

UNUSED_DAYS = 30
"""Files of the user's folder that no process has read for this long are removed when others are compiled."""

_IMPORT = re.compile(rb"^\s*from (dabp\.kernels(?:\.\w+)*) import ([\w, ]+|\([\w,\s]+\))", re.MULTILINE)
_DIGEST_BYTES = 32


def keep_compiled(dispatcher: Any) -> Any:
    """Let a kernel (what ``numba.njit`` returned) load and keep its compiled forms here.

    Numba has no public way to do so. If its inside is not the one that this was written for, the kernel is kept where
    Numba keeps such code by itself, and nothing is shipped.
    """
    if config.DISABLE_JIT:
        return dispatcher
    if INSIDE_IS_KNOWN:
        function = dispatcher.py_func
        dispatcher._cache = KernelCache(function)
        if build_folder() is not None:  # kernels that raise hold the name of their file: not with the builder's folders
            name = Path(function.__code__.co_filename).name
            function.__code__ = function.__code__.replace(co_filename=name)
    else:
        dispatcher.enable_caching()
    return dispatcher


class KernelCache:
    """The compiled forms of one kernel; the methods are those that Numba's dispatchers call."""

    cache_path = str(SHIPPED)

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._path = Path(function.__code__.co_filename)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """A compiled form from the disk; None where there is none that can be used."""
        triple, processor, features = context.codegen().magic_tuple()
        if (place := build_folder()) is None:
            for level in levels():
                path = SHIPPED / level / self._name(signature, triple, level, "")
                if (found := self._load(path, context)) is not None:
                    return found
            place = folder()
        if place is None:
            return None
        return self._load(place / self._name(signature, triple, processor, features), context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled form; where the disk does not take it, it serves this process and is forgotten."""
        if (place := build_folder() or folder()) is None or compiled.library.has_dynamic_globals or compiled.lifted:
            return
        # The annotation is the kernel's source with its path, which only Numba's inspection reports show.
        content = dumps(compiled._replace(type_annotation="")._reduce())
        if build_folder() is not None:  # errors raised by Numba's own functions name their files: in as many dots
            packages = os.fsencode(Path(numba.__file__).parents[1])
            content = content.replace(packages, b"." * len(packages))
        write(place / self._name(signature, *compiled.codegen.magic_tuple()), content)

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Called before a kernel is compiled again, whose file is then replaced."""

    def _name(self, signature: Any, *target: str) -> str:
        code = self._function.__code__
        place = code.co_qualname, code.co_firstlineno, _closure(self._function)
        known = version(self._path), surroundings(), target, place, _described(signature)
        sha = hashlib.sha256(repr(known).encode())
        return f"{self._path.stem}.{code.co_name}-{sha.hexdigest()[:24]}{SUFFIX}"

    def _load(self, path: Path, context: Any) -> Any:
        try:
            content = read(path)
            if content is None:
                return None
            if build_folder() is not None:
                os.utime(path)  # the build removes what it has not touched
            rtsys.initialize(context)  # not `context.refresh()`: that loads what compiling needs, for half a second
            return CompileResult._rebuild(context, *pickle.loads(content))
        except Exception:  # whatever a damaged file makes Numba raise
            _warn_of_damage(path)
            return None


def _described(signature: Any) -> str:
    """The types of the arguments; of named tuples also the module, as two may have one name."""
    return "; ".join(
        f"{one} {getattr(getattr(one, 'instance_class', None), '__module__', '')}" for one in tuple(signature)
    )


def _closure(function: Callable[..., Any]) -> str:
    """What a kernel made inside a function depends on."""
    return repr([cell.cell_contents for cell in function.__closure__ or ()])


@functools.cache
def surroundings() -> tuple[str, ...]:
    """All that the machine code of every kernel depends on."""
    chosen = (config.OPT, config.DEBUGINFO_DEFAULT, config.BOUNDSCHECK, sys.flags.optimize)
    return (numba.__version__, llvmlite.__version__, str(sys.implementation.cache_tag), *map(str, chosen))


@functools.cache
def levels() -> tuple[str, ...]:
    """The folders of `SHIPPED` whose code this processor runs, the best first."""
    shipped = {path.name for path in SHIPPED.iterdir()} if SHIPPED.is_dir() else set()
    return tuple(level for level in host_levels() if level in shipped)


@functools.cache
def host_levels() -> tuple[str, ...]:
    """The levels that this processor has, the best first."""
    if not binding.get_process_triple().startswith(("x86_64", "amd64")):
        return (GENERIC,)
    present = binding.get_host_cpu_features()
    names = list(LEVELS)
    return tuple(
        name
        for place, name in enumerate(names)
        if all(present.get(feature) for lower in names[place:] for feature in LEVELS[lower])
    )


def build_folder() -> Path | None:
    """The folder of a build, in a process that it has started."""
    return Path(given) if (given := os.environ.get(BUILD_FOLDER)) else None


# ---- files -------------------------------------------------------------------------------------


def read(path: Path) -> bytes | None:
    """The content of a file of compiled code, None if there is no such file; ValueError if it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    digest, content = whole[:_DIGEST_BYTES], whole[_DIGEST_BYTES:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError("its content does not have the digest that it was written with")
    return content


def write(path: Path, content: bytes) -> None:
    """Put a file of compiled code in its place in one step, or not at all."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as stream:
            temporary = stream.name
            stream.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _warn_of_damage(path: Path, *, _warned: list[Path] = []) -> None:  # noqa: B006 - once in a process
    if not _warned:
        _warned.append(path)
        warnings.warn(
            f"compiled kernels are damaged and are compiled again, the first is {path}; "
            "`dabp doctor --compile` mends all of them",
            stacklevel=2,
        )


def damaged(place: Path) -> list[Path]:
    """The files of a folder of compiled code that are damaged."""
    found = []
    for path in sorted(place.glob(f"*{SUFFIX}")):
        try:
            read(path)
        except ValueError:
            found.append(path)
    return found


def remove_unused(place: Path) -> None:
    """Remove the files of compiled code that no process has read for `UNUSED_DAYS`."""
    horizon = time.time() - UNUSED_DAYS * 86400
    for path in place.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            status = path.stat()
            if max(status.st_atime, status.st_mtime) < horizon:
                path.unlink()


# ---- the user's folder -------------------------------------------------------------------------


@functools.cache
def folder() -> Path | None:
    """The folder for what this machine compiles: the first candidate that is safe and can be written to, or none."""
    for candidate in _candidates():
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_safe(candidate):
                warnings.warn(
                    f"{candidate}: compiled kernels are not kept in a folder that other users can change", stacklevel=2
                )
                continue
            with tempfile.TemporaryFile(dir=candidate):
                return candidate
        except OSError:
            continue
    return None


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
    if sys.platform == "win32":
        user = os.environ.get("USERNAME", "user")
    else:
        user = str(os.getuid())
    yield Path(tempfile.gettempdir()) / f"dabp-{user}"


def _is_safe(place: Path) -> bool:
    """Whether only this user can change what lies in a folder; on Windows the user's folders are so."""
    if sys.platform == "win32":
        return True
    opened = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        status = os.fstat(opened)
    finally:
        os.close(opened)
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


# ---- versions ----------------------------------------------------------------------------------


@functools.cache
def version(path: Path) -> str:
    """A digest of the source of a kernel module and of the kernel modules that it imports, directly or not."""
    sha = hashlib.sha256()
    for source in sorted(closure(path)):
        sha.update(_source(source))
    return sha.hexdigest()


def closure(path: Path) -> set[Path]:
    """The file of a kernel module and the files of all kernel modules that it needs."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += _imported(source)
    return found


@functools.cache
def _source(path: Path) -> bytes:
    """Without carriage returns, which a checkout on Windows may have."""
    return path.read_bytes().replace(b"\r\n", b"\n")


@functools.cache
def _imported(path: Path) -> list[Path]:
    """The kernel modules that a module names in its imports; this one changes no machine code."""
    named = []
    for module, names in _IMPORT.findall(_source(path)):
        base = ROOT.joinpath(*module.decode().split(".")[2:])
        inside = [base / f"{name.strip()}.py" for name in names.decode().strip("()").split(",")]
        named += [one for one in (base.with_suffix(".py"), *inside) if one.is_file() and one != Path(__file__)]
    return named
