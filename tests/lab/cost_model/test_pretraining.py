"""Training learns, and can be interrupted anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from dabp.errors import FormatError, ParameterError
from dabp.lab.cost_model.examples import Examples
from dabp.lab.cost_model.pretraining import Pretraining, Trainer

SMALL = Examples(max_variables=5, max_domain=3, max_assigned=3, colouring=0.3, mixed=0.5)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from threads, and results depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def settings(**changes: object) -> Pretraining:
    """Settings of a short training."""
    return Pretraining(**{"steps": 6, "batch_size": 4, "warmup": 2, "validation": 20, "examples": SMALL, **changes})


def test_checkpoint_of_other_settings_is_refused(tmp_path: Path) -> None:
    """Continuing with other settings would give parameters that no command can make again."""
    trainer = Trainer(settings())
    trainer.save(tmp_path / "one.checkpoint")
    with pytest.raises(ParameterError, match="other settings"):
        Trainer(settings(seed=1)).load(tmp_path / "one.checkpoint")
    trainer.export(tmp_path / "weights.safetensors")
    with pytest.raises(FormatError, match="not a checkpoint"):
        Trainer(settings()).load(tmp_path / "weights.safetensors")


def test_training_learns() -> None:
    """A few steps on tiny problems bring the error well below that of the untrained model."""
    trainer = Trainer(settings(steps=60, batch_size=12, warmup=5))
    before = trainer.validate()
    while not trainer.finished:
        trainer.train_step()
    after = trainer.validate()
    assert after.centred_mse < 0.5 * before.centred_mse
    assert after.regret < before.regret


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"learning_rate": 0.0}, {"offset_share": 0.0}, {"focus": -1.0}, {"clip": 0.0}]
)
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    """Impossible settings are refused before hours of training."""
    with pytest.raises(ParameterError):
        settings(**wrong)
