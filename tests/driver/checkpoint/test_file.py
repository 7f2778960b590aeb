"""The file of a checkpoint: what is saved comes back, what is damaged or foreign is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dabp.driver.checkpoint import file
from dabp.errors import CheckpointError

IDENTITY = {"problem": "p", "solver": "s"}


def test_round_trip(tmp_path: Path) -> None:
    """Arrays of every kind and nested JSON values survive."""
    state = {
        "a": np.arange(6.0).reshape(2, 3),
        "empty": np.zeros((0, 2)),
        "flags": np.array([True, False]),
        "nested": {"big": 2**100, "none": None, "list": [1.5, "x"]},
    }
    file.save(tmp_path / "c", state, **IDENTITY)
    loaded, warning = file.load(tmp_path / "c", **IDENTITY)
    assert warning is None
    assert loaded["nested"] == state["nested"]
    for key in ("a", "empty", "flags"):
        assert np.array_equal(loaded[key], state[key])
        assert loaded[key].dtype == state[key].dtype


def test_damage_is_found_and_the_generation_before_is_used(tmp_path: Path) -> None:
    """Any flipped byte or cut is noticed; with an earlier generation the run goes on."""
    path = tmp_path / "c"
    file.save(path, {"n": 1, "a": np.arange(5)}, **IDENTITY)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        bad = bytearray(good)
        place = int(rng.integers(len(bad)))
        bad[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(bad) if rng.random() < 0.5 else good[:place])
        with pytest.raises(CheckpointError, match=r"c: "):
            file.load(path, **IDENTITY)
    path.write_bytes(good)
    file.save(path, {"n": 2}, **IDENTITY)
    path.write_bytes(path.read_bytes()[:-9])
    state, warning = file.load(path, **IDENTITY)
    assert state["n"] == 1
    assert warning is not None
    assert "previous" in warning


@pytest.mark.parametrize(("what", "message"), [("problem", "another problem"), ("solver", "was made by")])
def test_foreign_checkpoints_are_refused(tmp_path: Path, what: str, message: str) -> None:
    """A checkpoint of another problem or solver is refused by name."""
    file.save(tmp_path / "c", {}, **IDENTITY)
    with pytest.raises(CheckpointError, match=message):
        file.load(tmp_path / "c", **{**IDENTITY, what: "other"})
