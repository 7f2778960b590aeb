"""Files of compiled kernels: those that come with the package, and those that this machine has compiled.

A compiled form of a kernel is one file, named by a digest of all that its machine code depends on: the source of its
module and of every kernel module that this imports, Numba, LLVM, Python, the processor and the types of the arguments.
A lookup is one file name; files share nothing, so processes need no locks; a changed kernel and its callers get new
names. A file begins with the digest of its content; a damaged file is compiled again.

`SHIPPED` holds the kernels that the build of the package compiled for portable levels of the processor (`LEVELS`). The
user's folder is ``DABP_CACHE_DIR`` if set, else the user's cache folder, else one among the temporary files. Files of
compiled code are executed, so a folder or file that another user owns or can write to is not used.
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

INNER_SUFFIX = f".inner{SUFFIX}"
"""Of files of kernels that only kernels call, whose code holds them: a build does not ship these."""

LEVELS = {
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
}
"""Portable levels of processors and their features by LLVM's names, the best first; v4 includes v3."""

BUILD_FOLDER = "DABP_KERNELS_BUILD"
"""The environment variable with the folder that a build loads compiled kernels from and writes them to."""

_IMPORT = re.compile(rb"^\s*from (dabp\.kernels(?:\.\w+)*) import ([\w, ]+|\([\w,\s]+\))", re.MULTILINE)


def keep_compiled(dispatcher: Any) -> Any:
    """Let a kernel (from ``numba.njit``) load and save its compiled forms by `KernelCache`.

    Numba has no public interface for this. With a Numba whose private parts differ its own cache is used.
    """
    if config.DISABLE_JIT:
        return dispatcher
    if INSIDE_IS_KNOWN:
        function = dispatcher.py_func
        inner = bool(dispatcher.targetoptions.get("no_cpython_wrapper"))
        dispatcher._cache = KernelCache(function, INNER_SUFFIX if inner else SUFFIX)
        if build_folder() is not None:  # errors name their file: without the builder's folders
            name = Path(function.__code__.co_filename).name
            function.__code__ = function.__code__.replace(co_filename=name)
    else:
        dispatcher.enable_caching()
    return dispatcher


class KernelCache:
    """The compiled forms of one kernel, with the methods that Numba's dispatchers call."""

    cache_path = str(SHIPPED)

    def __init__(self, function: Callable[..., Any], suffix: str):
        self._function, self._suffix = function, suffix
        self._path = Path(function.__code__.co_filename)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """A compiled form from the disk, None if there is no usable one."""
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
        """Save a compiled form; an error of the disk only means that it is not saved."""
        if (place := build_folder() or folder()) is None or compiled.library.has_dynamic_globals or compiled.lifted:
            return
        # The annotation is the kernel's source with its path, which only Numba's inspection reports show.
        content = dumps(compiled._replace(type_annotation="")._reduce())
        if build_folder() is not None:  # errors raised by Numba's own functions name their files: in as many dots
            packages = os.fsencode(Path(numba.__file__).parents[1])
            content = content.replace(packages, b"." * len(packages))
        write(place / self._name(signature, *compiled.codegen.magic_tuple()), content)

    def flush(self) -> None:
        """Numba calls this before it compiles a kernel again; the file is then replaced."""

    enable = disable = flush

    def _name(self, signature: Any, *target: str) -> str:
        code = self._function.__code__
        cells = repr([cell.cell_contents for cell in self._function.__closure__ or ()])
        place = code.co_qualname, code.co_firstlineno, cells
        known = version(self._path), surroundings(), target, place, _described(signature)
        digest = hashlib.sha256(repr(known).encode()).hexdigest()
        return f"{self._path.stem}.{code.co_name}-{digest[:24]}{self._suffix}"

    def _load(self, path: Path, context: Any) -> Any:
        try:
            content = read(path)
            if content is None:
                return None
            if build_folder() is not None:
                os.utime(path)  # the build removes what it has not touched
            rtsys.initialize(context)  # not `context.refresh()`: that loads what compiling needs, for half a second
            return CompileResult._rebuild(context, *pickle.loads(content))
        except Exception:  # Numba raises many kinds on a damaged file
            _warn_of_damage(path)
            return None


def _described(signature: Any) -> str:
    """The types of the arguments; of named tuples also the module, as two may have one name."""
    return "; ".join(
        f"{one} {getattr(getattr(one, 'instance_class', None), '__module__', '')}" for one in tuple(signature)
    )


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
        return ("generic",)  # other families: all have the vectors of their family (NEON on arm64)
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
    """The content of a file of compiled code, None without a file that may be used; ValueError if it is damaged.

    Files of the package are used whoever owns them.
    """
    try:
        with path.open("rb") as file:
            if SHIPPED not in path.parents and not _is_own(os.fstat(file.fileno())):
                return None
            whole = file.read()
    except OSError:
        return None
    digest, content = whole[:32], whole[32:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError("its content does not have the digest that it was written with")
    return content


def write(path: Path, content: bytes) -> None:
    """Write a file of compiled code in one step, or not at all."""
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    """Remove the files of compiled code that no process has read for 30 days."""
    horizon = time.time() - 30 * 86400
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
    """Whether only this user can change a folder, which is opened so that it cannot be exchanged meanwhile."""
    if sys.platform == "win32":  # folders of users are their own there
        return True
    opened = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return _is_own(os.fstat(opened))
    finally:
        os.close(opened)


def _is_own(status: os.stat_result) -> bool:
    """Whether this user owns a file or folder and no other can write to it."""
    if sys.platform == "win32":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


# ---- versions ----------------------------------------------------------------------------------


@functools.cache
def version(path: Path) -> str:
    """A digest of the source of a kernel module and of the kernel modules that it imports, directly or not."""
    return hashlib.sha256(b"".join(_source(source) for source in sorted(closure(path)))).hexdigest()


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
    """The source without carriage returns, which a checkout on Windows may have."""
    return path.read_bytes().replace(b"\r\n", b"\n")


@functools.cache
def _imported(path: Path) -> list[Path]:
    """The kernel modules that a module imports, except this one, which does not change machine code."""
    named = []
    for module, names in _IMPORT.findall(_source(path)):
        base = ROOT.joinpath(*module.decode().split(".")[2:])
        inside = [base / f"{name.strip()}.py" for name in names.decode().strip("()").split(",")]
        named += [one for one in (base.with_suffix(".py"), *inside) if one.is_file() and one != Path(__file__)]
    return named
