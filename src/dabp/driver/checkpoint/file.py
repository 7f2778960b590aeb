"""The file of a checkpoint: a state on disk, written safely, checked on the way back.

One file in safetensors format: arrays as tensors, everything else as JSON in its metadata, with a
SHA-256 over both. The file before the last stays beside it as ``FILE.previous``, so that a crash while
writing loses at most one generation. No pickle: loading a foreign file runs no code.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import CheckpointError
from dabp.safe_files import replacing
from dabp.solvers.base import State

KIND = "dabp-checkpoint-2"
"""Identifies the layout of the file."""
VERSION = str(sys.modules["dabp"].__version__)
"""The program's version: only the same version continues a checkpoint."""


@dataclass(frozen=True)
class Origin:
    """The problem and the solver of a checkpoint; only the same two continue it."""

    problem: str
    """A hash of the problem and its fixed variables."""
    solver: str
    """The solver with its parameters, and the seed."""


def previous(path: Path) -> Path:
    """The file that keeps the generation before `path`."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + ".previous")


def is_checkpoint(path: Path) -> bool:
    """Whether a file is an undamaged checkpoint of any version of dabp."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as stream:
            return str((stream.metadata() or {}).get("kind")).startswith("dabp-checkpoint")
    except (SafetensorError, OSError, ValueError):
        return False


def save(path: Path, contents: State, origin: Origin) -> None:
    """Write contents whose top-level NumPy arrays go into tensors."""
    from safetensors.numpy import save as to_bytes

    arrays = {k: np.ascontiguousarray(v) for k, v in contents.items() if isinstance(v, np.ndarray)}
    values = json.dumps({k: v for k, v in contents.items() if k not in arrays})
    header = {"kind": KIND, "version": VERSION, "problem": origin.problem, "solver": origin.solver, "state": values}
    header["checksum"] = _checksum(header, arrays)
    try:
        with replacing(path, "wb", previous=previous(path)) as stream:
            stream.write(to_bytes(arrays, metadata=header))
    except OSError as error:
        raise CheckpointError(f"{path}: cannot write the checkpoint: {error.strerror or error}") from None


def load(path: Path, origin: Origin, check: Callable[[State], None]) -> tuple[State, str | None]:
    """The newest sound contents, and a warning when they had to come from the generation before.

    `check` raises `CheckpointError` for contents that the problem cannot have; every error names the file.
    """
    problems = []
    for candidate in (path, previous(path)):
        try:
            contents = _load(candidate, origin)
            check(contents)
        except CheckpointError as error:
            problems.append(f"{candidate}: {error}")
            continue
        return contents, (f"{problems[0]}; continuing from {candidate.name}" if problems else None)
    raise CheckpointError(problems[0])


def _load(path: Path, origin: Origin) -> State:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError("there is no such checkpoint")
    try:
        with safe_open(path, framework="numpy") as stream:
            header = stream.metadata() or {}
            arrays = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"truncated or not a checkpoint ({error})") from None
    _check_header(header, origin)
    if header.pop("checksum", None) != _checksum(header, arrays):
        raise CheckpointError("the checksum does not match, the file is damaged")
    try:
        values = json.loads(header["state"])
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.keys() & arrays.keys():
        raise CheckpointError("its values are not those of a checkpoint")
    return {**values, **arrays}


def _check_header(header: dict[str, str], origin: Origin) -> None:
    kind, version = header.get("kind", ""), header.get("version", "0.1")
    if not kind.startswith("dabp-checkpoint"):
        raise CheckpointError("not a dabp checkpoint")
    if kind != KIND or version != VERSION:
        raise CheckpointError(f"was made by dabp {version}; this is {VERSION}, which cannot continue it")
    missing = {"problem", "solver", "state"} - header.keys()
    if missing:
        raise CheckpointError(f"it does not say its {sorted(missing)[0]}")
    if header["problem"] != origin.problem:
        raise CheckpointError("belongs to another problem")
    if header["solver"] != origin.solver:
        raise CheckpointError(f"was made by solver {header['solver']}, this is {origin.solver}")


def _checksum(header: dict[str, str], arrays: dict[str, NDArray[Any]]) -> str:
    sha = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for key in sorted(arrays):
        array = arrays[key]
        sha.update(f"{key}{array.dtype}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return sha.hexdigest()
