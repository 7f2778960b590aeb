"""Parameters in and out of files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from dabp.errors import FormatError
from dabp.lab.cost_model.examples import Examples
from dabp.lab.cost_model.pretraining import Pretraining, Trainer
from dabp.solvers.gat_pcm import weights
from dabp.solvers.gat_pcm.weights import SHAPES, fold, load


def test_exported_weights_load(tmp_path: Path) -> None:
    """What training writes is what the solver reads; anything else is refused in words."""
    trainer = Trainer(Pretraining(steps=1, validation=1))
    path = tmp_path / "weights.safetensors"
    trainer.export(path)
    state = load(path)
    assert {name: array.shape for name, array in state.items()} == SHAPES
    fold(state)
    with pytest.raises(FormatError, match=r"'out\.bias' is missing"):
        fold({name: array for name, array in state.items() if name != "out.bias"})
    path.write_bytes(b"no tensors here")
    with pytest.raises(FormatError, match="safetensors"):
        load(path)
    with pytest.raises(FormatError, match="no file"):
        load(tmp_path / "absent.safetensors")


def test_shipped_parameters_are_those_of_their_report() -> None:
    """The file in the package is the result of the curve beside it, on subtrees that were not trained on."""
    folder = Path(weights.__file__).parent
    report = json.loads((folder / "weights.json").read_text())
    shipped = Pretraining(**{**report["settings"], "examples": Examples(**report["settings"]["examples"])})
    trainer = Trainer(shipped)
    trainer.model.load_state_dict({name: torch.from_numpy(array) for name, array in load().items()})
    found, expected = trainer.validate(), report["validation"][-1]
    assert expected["step"] == shipped.steps
    assert found.centred_mse == pytest.approx(expected["centred_mse"], rel=1e-3)
    assert found.regret == pytest.approx(expected["regret"], rel=0.05)
    assert (folder / "weights.safetensors").stat().st_size < 200_000
