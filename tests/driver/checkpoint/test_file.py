"""The file of a checkpoint: what is saved comes back, what is damaged or foreign is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from dabp.driver.checkpoint import file
from dabp.errors import CheckpointError
from dabp.solvers.base import State

ORIGIN = file.Origin("p", "s")


def anything(contents: State) -> None:
    """Contents that nothing is asked of."""


def test_round_trip(tmp_path: Path) -> None:
    """Arrays of every kind and nested JSON values survive."""
    state = {
        "a": np.arange(6.0).reshape(2, 3),
        "empty": np.zeros((0, 2)),
        "flags": np.array([True, False]),
        "nested": {"big": 2**100, "none": None, "list": [1.5, "x"]},
    }
    file.save(tmp_path / "c", state, ORIGIN)
    loaded, warning = file.load(tmp_path / "c", ORIGIN, anything)
    assert warning is None
    assert loaded["nested"] == state["nested"]
    for key in ("a", "empty", "flags"):
        assert np.array_equal(loaded[key], state[key])
        assert loaded[key].dtype == state[key].dtype


def test_damage_is_found_and_the_generation_before_is_used(tmp_path: Path) -> None:
    """Any flipped byte or cut is noticed; with an earlier generation the run goes on."""
    path = tmp_path / "c"
    file.save(path, {"n": 1, "a": np.arange(5)}, ORIGIN)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        bad = bytearray(good)
        place = int(rng.integers(len(bad)))
        bad[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(bad) if rng.random() < 0.5 else good[:place])
        with pytest.raises(CheckpointError, match=r"c: "):
            file.load(path, ORIGIN, anything)
    path.write_bytes(good)
    file.save(path, {"n": 2}, ORIGIN)
    path.write_bytes(path.read_bytes()[:-9])
    state, warning = file.load(path, ORIGIN, anything)
    assert state["n"] == 1
    assert warning is not None
    assert "previous" in warning


@pytest.mark.parametrize(("what", "message"), [("problem", "another problem"), ("solver", "was made by")])
def test_foreign_checkpoints_are_refused(tmp_path: Path, what: str, message: str) -> None:
    """A checkpoint of another problem or solver is refused by name."""
    file.save(tmp_path / "c", {}, ORIGIN)
    with pytest.raises(CheckpointError, match=message):
        file.load(tmp_path / "c", dataclasses.replace(ORIGIN, **{what: "other"}), anything)


def test_another_version_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """States of searches change between versions: the file says whose it is, and the message does."""
    monkeypatch.setattr(file, "VERSION", "0.0.7")
    file.save(tmp_path / "c", {"n": 1}, ORIGIN)
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=r"c: was made by dabp 0\.0\.7; this is "):
        file.load(tmp_path / "c", ORIGIN, anything)


def test_contents_that_are_refused_are_those_of_the_file_before(tmp_path: Path) -> None:
    """A sound file with impossible contents is no better than a damaged one, and the message names it."""

    def only_ones(contents: State) -> None:
        if contents["n"] != 1:
            raise CheckpointError("it is not 1")

    for n in (1, 2):
        file.save(tmp_path / "c", {"n": n}, ORIGIN)
    contents, warning = file.load(tmp_path / "c", ORIGIN, only_ones)
    assert contents == {"n": 1}
    assert warning == f"{tmp_path / 'c'}: it is not 1; continuing from c.previous"


@pytest.mark.parametrize("text", [b"", b"5 2 3 1 9\n2 2\n", b"\xff" * 100, b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_what_is_not_ours_is_told_apart(tmp_path: Path, text: bytes) -> None:
    """Problems, rubbish and other people's tensors."""
    (tmp_path / "c").write_bytes(text)
    assert not file.is_checkpoint(tmp_path / "c")
    file.save(tmp_path / "ours", {"n": 1}, ORIGIN)
    assert file.is_checkpoint(tmp_path / "ours")
