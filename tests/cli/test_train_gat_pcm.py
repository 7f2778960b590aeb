"""``dabp lab train-gat-pcm``: what it writes, and that it takes up an interrupted training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dabp.lab.cost_model.pretraining import Trainer
from dabp.solvers.gat_pcm.weights import fold, load
from tests.cli.conftest import Run

SMALL = ("--steps", 4, "--batch-size", 2, "--max-variables", 4, "--max-domain", 3, "--validate-every", 2)


def test_training_writes_parameters_and_how_they_came_about(run: Run, tmp_path: Path) -> None:
    """The solver can load the file, and the report beside it has the command and the curve."""
    output = tmp_path / "weights.safetensors"
    code, out, _ = run("lab", "train-gat-pcm", output, *SMALL)
    assert code == 0
    assert "regret" in out
    fold(load(output))
    report = json.loads(output.with_suffix(".json").read_text())
    assert report["command"].startswith("dabp lab train-gat-pcm")
    assert [one["step"] for one in report["validation"]] == [0, 2, 4]
    assert not output.with_suffix(".checkpoint").exists()


@pytest.mark.parametrize("place", ["nowhere/w.safetensors", "w.json", "w.checkpoint", "."])
def test_training_does_not_begin_without_a_place_for_its_parameters(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A missing folder, or the name of a file beside them, which would replace or remove them at the end."""
    monkeypatch.setattr(Trainer, "train_step", lambda _: pytest.fail("training has begun"))
    code, out, err = run("lab", "train-gat-pcm", tmp_path / place, *SMALL)
    assert (code, out) == (2, "")
    assert err.startswith(f"dabp: {tmp_path / place}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_interrupted_training_goes_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C saves; the same command continues and ends where an undisturbed one does."""
    whole, halved = tmp_path / "whole.safetensors", tmp_path / "halved.safetensors"
    run("lab", "train-gat-pcm", whole, *SMALL)
    train_step = Trainer.train_step

    def interrupted(trainer: Trainer) -> float:
        if trainer.step == 3:
            raise KeyboardInterrupt
        return train_step(trainer)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_step", interrupted)
        assert run("lab", "train-gat-pcm", halved, *SMALL).code == 130
    assert not halved.exists()
    assert run("lab", "train-gat-pcm", halved, *SMALL).code == 0
    assert halved.read_bytes() == whole.read_bytes()
