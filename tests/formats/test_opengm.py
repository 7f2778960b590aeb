"""OpenGM's files mean what its functions mean, and damaged ones are refused."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem

h5py = pytest.importorskip("h5py", reason="h5py is not installed")
_CUBE = np.arange(12.0).reshape(2, 3, 2)


def _model(path: Path, **changes: Any) -> Path:
    """Three variables of 2, 3 and 2 labels, and a function of every kind; the first index of a table is the fastest."""
    content: dict[str, Any] = {
        "header": [2, 0, 3, 8, 6, 16000, 3, 16002, 1, 16003, 1, 16004, 1, 16005, 1, 16006, 1, 1],
        "numbers-of-states": [2, 3, 2],
        "function-id-16000/indices": [1, 3, 3, 2, 3, 2, 0],
        "function-id-16000/values": [0.5, 1.5, 2.5, *_CUBE.ravel(order="F"), 100.0],
        "function-id-16002/indices": [2, 3],
        "function-id-16002/values": [7.0],
        "function-id-16003/indices": [2, 3],
        "function-id-16003/values": [1.0, 11.0],
        "function-id-16004/indices": [3, 2],
        "function-id-16004/values": [13.0],
        "function-id-16005/indices": [3, 2],
        "function-id-16005/values": [2.0, 17.0],
        "function-id-16006/indices": [2, 2],
        "function-id-16006/values": [19.0, 23.0],
        "factors": [
            *(0, 0, 1, 1, 1, 0, 3, 0, 1, 2, 2, 0, 0, 0, 1, 2, 0, 1, 0, 2, 2, 0, 1, 0, 3, 2, 1, 2, 0, 4, 2, 1, 2),
            *(0, 5, 2, 0, 2),
        ],
    } | changes
    with h5py.File(path, "w") as file:
        for name, numbers in content.items():
            if numbers is not None:
                file[f"gm/{name}"] = np.asarray(numbers, dtype=np.float64 if "values" in name else np.uint64)
    return path


def test_every_function(tmp_path: Path) -> None:
    """Tables, Potts, and absolute and squared differences, truncated or not, add up to the definition."""
    problem = read(_model(tmp_path / "a.h5"))
    assert problem.num_factors == 7
    for a, b, c in itertools.product(range(2), range(3), range(2)):
        expected = 100 + (0.5 + b) + _CUBE[a, b, c] + 7 * abs(a - b) + 11 * min(abs(a - b), 1)
        expected += 13 * (b - c) ** 2 + 17 * min((b - c) ** 2, 2) + (19 if a == c else 23)
        assert problem.cost([a, b, c]) == expected


def test_any_name_of_the_group(tmp_path: Path) -> None:
    """The model is found whatever its group is called, also through a stream."""
    path = _model(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        file.move("gm", "other")
    assert read(io.BytesIO(path.read_bytes()), "opengm").num_variables == 3


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"header": [3, 0, 3, 7, 0]}, "not that of an OpenGM 2 model"),
        ({"header": [2]}, "not that of an OpenGM 2 model"),
        ({"numbers-of-states": [2, 3]}, "3 variables were announced, 2 found"),
        ({"numbers-of-states": [2, 3, 0]}, "variable 'x2' has an empty domain"),
        ({"numbers-of-states": None}, "dataset 'numbers-of-states' is missing"),
        ({"function-id-16006/values": [19.0]}, "it ends early"),
        ({"function-id-16000/indices": [1, 3, 9]}, "it ends early"),
        ({"function-id-16000/values": [np.nan] * 16}, "a cost is nan"),
        ({"factors": [0, 0, 1]}, "they end early"),
        ({"factors": [9, 0, 1, 1] * 8}, "factor 0 has a function that there is not"),
        ({"factors": [0, 0, 1, 5] * 8}, "factor 0 names a variable outside 0..2"),
        ({"factors": [0, 0, 1, 0] * 8}, "factor 0 has a function of other numbers of labels"),
        ({"header": [2, 0, 3, 8, 1, 16042, 1]}, "functions of OpenGM's type 16042 are not supported"),
        ({"header": [2, 0, 3, 8, 1, 16000, 10**12]}, "it ends early"),
    ],
)
def test_wrong_models(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    """One sentence says what does not fit."""
    with pytest.raises(FormatError, match=reason):
        read(_model(tmp_path / "a.h5", **changes))


def test_files_that_point_elsewhere(tmp_path: Path) -> None:
    """Nothing is read from another file, and no dataset that only claims to be large."""
    path = _model(tmp_path / "a.h5", factors=None)
    with h5py.File(path, "a") as file:
        file["gm/factors"] = h5py.ExternalLink(str(tmp_path / "b.h5"), "/x")
    with pytest.raises(FormatError, match="'factors' is missing, or in another file"):
        read(path)
    with h5py.File(path, "a") as file:
        del file["gm/factors"]
        file["gm"].create_dataset("factors", shape=(10**12,), chunks=(1000,), dtype=np.uint64)
    with pytest.raises(FormatError, match=r"would have 10000000000[0-9]{2} cells.*--max-cells"):
        read(path)


@pytest.mark.parametrize(
    ("name", "numbers", "reason"),
    [
        ("factors", np.tile([0, 0, -3], 8), "they end early"),  # which would never end
        ("factors", np.full(24, -(2**63)), "they end early"),
        ("factors", np.full(24, np.nan), "no HDF5 file that can be read|they end early"),
        ("numbers-of-states", np.array([2.0, 3.0, np.inf]), "no HDF5 file that can be read"),
        ("numbers-of-states", np.array([2, 3, -5]), "empty domain"),
        ("numbers-of-states", np.array([b"2", b"3", b"2"]), "no array of numbers"),
        ("header", np.array([2, 0, 3, 10**18, 1, 16000, 3, 1]), "that there is not"),
        ("header", np.array([2, 0, 3, 8, -1, 0, 0]), "not that of an OpenGM 2 model"),
        ("header", np.array([2.0, 0, 3, 8, np.nan]), "not that of an OpenGM 2 model"),
        ("function-id-16000/indices", np.full(200_000, 2**60), "variables; [0-9]+ is the most"),
        ("function-id-16000/indices", np.array([-7, 3, 3, 2, 3, 2, 0]), "variables; [0-9]+ is the most"),
        ("function-id-16002/indices", np.array([2**40, 2**40]), "cells"),
    ],
)
def test_hostile_models(name: str, numbers: np.ndarray, reason: str, tmp_path: Path) -> None:
    """Numbers of other kinds and sizes than OpenGM writes: counts that go backwards, bombs, infinities, text."""
    path = _model(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        del file[f"gm/{name}"]
        file[f"gm/{name}"] = numbers
    with pytest.raises(FormatError, match=reason):
        read(path)


@pytest.mark.parametrize("data", [b"\x89HDF\r\n\x1a\n" + bytes(100), b"no HDF5 at all"])
def test_no_hdf5(data: bytes) -> None:
    """Damaged files give one sentence, not an exception of the library."""
    with pytest.raises(FormatError, match="no HDF5 file"):
        read(io.BytesIO(data), "opengm")


def test_cannot_be_written(tmp_path: Path) -> None:
    """Said before anything is written."""
    with pytest.raises(FormatError, match="only read"):
        write(Problem([2]), tmp_path / "a.h5")
    assert not (tmp_path / "a.h5").exists()
