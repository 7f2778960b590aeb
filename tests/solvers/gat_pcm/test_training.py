"""Labels are exact, examples are what a search meets, and training can be interrupted anywhere."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dabp.errors import FormatError, ParameterError
from dabp.problem.randomness import generator
from dabp.solvers.gat_pcm import weights
from dabp.solvers.gat_pcm.examples import Examples
from dabp.solvers.gat_pcm.labels import exact_costs
from dabp.solvers.gat_pcm.pretraining import Pretraining, Trainer
from dabp.solvers.gat_pcm.weights import SHAPES, Weights, load

SMALL = Examples(max_variables=5, max_domain=3, max_assigned=3, colouring=0.3, mixed=0.5)


@pytest.fixture(autouse=True)
def one_thread():
    """Small matrices gain nothing from threads, and results depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def exhaustive_costs(subtree):
    costs = np.full(subtree.sizes[0], np.inf)
    for values in itertools.product(*(range(size) for size in subtree.sizes)):
        total = sum(float(u[a]) for u, a in zip(subtree.unary, values, strict=True) if u is not None)
        for low, high, table in zip(subtree.lower, subtree.upper, subtree.tables, strict=True):
            total += float(table[values[low], values[high]])
        costs[values[0]] = min(costs[values[0]], total)
    return costs


def test_labels_are_exact():
    """Bucket elimination gives what trying all assignments gives."""
    for example in itertools.islice(SMALL.stream(generator(3)), 60):
        expected = exhaustive_costs(example.subtree)
        assert example.label == pytest.approx(expected, abs=1e-5)


def test_labels_refuse_large_tables():
    """A dense subtree is refused before its tables are allocated."""
    dense = Examples(
        min_variables=8, max_variables=8, min_domain=9, max_domain=9, max_extra_edges=6, colouring=0, mixed=0
    )
    subtrees = (e.subtree for e in itertools.islice(dense.stream(generator(0)), 40))
    widest = max(subtrees, key=lambda s: len(s.lower))
    with pytest.raises(ParameterError, match="entries"):
        exact_costs(widest, max_entries=50)


def test_examples_are_subtrees():
    """Constraints lead from a variable to an earlier one, all are connected to the target, and there is a choice."""
    for example in itertools.islice(Examples(max_variables=8, max_domain=4).stream(generator(1)), 100):
        subtree = example.subtree
        assert (subtree.lower > subtree.upper).all()
        assert set(subtree.lower.tolist()) == set(range(1, len(subtree.sizes)))
        assert len(example.label) == subtree.sizes[0]
        for low, high, table in zip(subtree.lower, subtree.upper, subtree.tables, strict=True):
            assert table.shape == (subtree.sizes[low], subtree.sizes[high])


def settings(**changes):
    return Pretraining(**{"steps": 6, "batch_size": 4, "warmup": 2, "validation": 20, "examples": SMALL, **changes})


def test_training_continues_where_it_stopped(tmp_path):
    """A run that is stopped and resumed ends with the same parameters as one that was not."""
    whole = Trainer(settings())
    while not whole.finished:
        whole.train_step()
    first = Trainer(settings())
    for _ in range(3):
        first.train_step()
    first.validate()
    first.save(tmp_path / "half.checkpoint")
    second = Trainer(settings())
    second.load(tmp_path / "half.checkpoint")
    assert second.step == 3
    assert second.curve == first.curve
    while not second.finished:
        second.train_step()
    for ours, theirs in zip(whole.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_checkpoint_of_other_settings_is_refused(tmp_path):
    """Continuing with other settings would give parameters that no command can make again."""
    trainer = Trainer(settings())
    trainer.save(tmp_path / "one.checkpoint")
    with pytest.raises(ParameterError, match="other settings"):
        Trainer(settings(seed=1)).load(tmp_path / "one.checkpoint")
    trainer.export(tmp_path / "weights.safetensors")
    with pytest.raises(FormatError, match="not a checkpoint"):
        Trainer(settings()).load(tmp_path / "weights.safetensors")


def test_training_learns():
    """A few steps on tiny problems bring the error well below that of the untrained model."""
    trainer = Trainer(settings(steps=60, batch_size=12, warmup=5))
    before = trainer.validate()
    while not trainer.finished:
        trainer.train_step()
    after = trainer.validate()
    assert after.centred_mse < 0.5 * before.centred_mse
    assert after.regret < before.regret


def test_exported_weights_load(tmp_path):
    """What training writes is what the solver reads; anything else is refused in words."""
    trainer = Trainer(settings())
    path = tmp_path / "weights.safetensors"
    trainer.export(path)
    state = load(path)
    assert {name: array.shape for name, array in state.items()} == SHAPES
    Weights.fold(state)
    with pytest.raises(FormatError, match=r"'out\.bias' is missing"):
        Weights.fold({name: array for name, array in state.items() if name != "out.bias"})
    path.write_bytes(b"no tensors here")
    with pytest.raises(FormatError, match="safetensors"):
        load(path)
    with pytest.raises(FormatError, match="no file"):
        load(tmp_path / "absent.safetensors")


def test_shipped_parameters_are_those_of_their_report():
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


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"learning_rate": 0.0}, {"offset_share": 0.0}, {"focus": -1.0}, {"clip": 0.0}]
)
def test_settings_are_checked(wrong):
    """Impossible settings are refused before hours of training."""
    with pytest.raises(ParameterError):
        settings(**wrong)
