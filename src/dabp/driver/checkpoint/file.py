"""The file of a checkpoint: a state on disk, atomically, checked on the way back.

One file in safetensors format: arrays as tensors, everything else as JSON in its metadata, with a
SHA-256 over both. The file before the last stays beside it as ``FILE.previous``, so that a crash while
writing loses at most one generation. No pickle: loading a foreign file runs no code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import CheckpointError

KIND = "dabp-checkpoint-1"


def previous(path: Path) -> Path:
    """Where the generation before `path` is kept."""
    return path.with_name(path.name + ".previous")


def save(path: str | Path, state: dict[str, Any], *, problem: str, solver: str) -> None:
    """Write a state whose top-level NumPy arrays go into tensors; `problem` says what it belongs to."""
    from safetensors.numpy import save as to_bytes

    path = Path(path)
    arrays = {k: np.ascontiguousarray(v) for k, v in state.items() if isinstance(v, np.ndarray)}
    values = json.dumps({k: v for k, v in state.items() if k not in arrays})
    header = {"kind": KIND, "problem": problem, "solver": solver, "state": values}
    header["checksum"] = _checksum(header, arrays)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as stream:
            stream.write(to_bytes(arrays, metadata=header))
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.replace(path, previous(path))
        os.replace(temporary, path)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot write the checkpoint: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def load(path: str | Path, *, problem: str, solver: str) -> tuple[dict[str, Any], str | None]:
    """The newest sound state, and a warning when it had to come from the generation before."""
    path = Path(path)
    problems = []
    for candidate in (path, previous(path)):
        try:
            state = _load(candidate, problem, solver)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        return state, (f"{problems[0]}; continuing from {candidate.name}" if problems else None)
    raise CheckpointError(problems[0])


def _load(path: Path, problem: str, solver: str) -> dict[str, Any]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such checkpoint")
    try:
        with safe_open(path, framework="numpy") as stream:
            header = stream.metadata() or {}
            arrays = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: truncated or not a checkpoint ({error})") from None
    if header.get("kind") != KIND:
        raise CheckpointError(f"{path}: not a dabp checkpoint")
    if header.pop("checksum", None) != _checksum(header, arrays):
        raise CheckpointError(f"{path}: the checksum does not match, the file is damaged")
    if header["problem"] != problem:
        raise CheckpointError(f"{path}: belongs to another problem")
    if header["solver"] != solver:
        raise CheckpointError(f"{path}: was made by solver {header['solver']}, this is {solver}")
    return {**json.loads(header["state"]), **arrays}


def _checksum(header: dict[str, str], arrays: dict[str, NDArray[Any]]) -> str:
    sha = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for key in sorted(arrays):
        array = arrays[key]
        sha.update(f"{key}{array.dtype}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return sha.hexdigest()
