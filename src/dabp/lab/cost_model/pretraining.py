"""Pretraining of the cost model on exact labels: resumable, the same for the same seed and threads.

The examples of step s come from a random stream of their own, so a run that continues from a checkpoint sees
what an uninterrupted one sees.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save, save_file
from torch import Tensor

from dabp.errors import FormatError, ParameterError
from dabp.lab.cost_model.examples import Example, Examples
from dabp.lab.cost_model.microstructure import microstructure
from dabp.lab.cost_model.network import CostModel
from dabp.problem.randomness import generator
from dabp.safe_files import replacing


@dataclass(frozen=True, kw_only=True)
class Pretraining:
    """How the model is trained.

    Parameters
    ----------
    steps, batch_size
        Updates, and subtrees in each.
    learning_rate, warmup
        Rises linearly over the first `warmup` steps, then falls to zero along a cosine.
    weight_decay, clip
        Of Adam, and the largest norm of a gradient.
    offset_weight, offset_share
        The mean squared error over the values of a target is the variance of the errors plus the square of their
        mean. Only the first decides which value is least, and only the second needs the constraint nodes, which
        cost most of the time: it is measured on this share of the subtrees and weighted (1 = plain mean squared
        error).
    focus
        Errors at a value whose cost is c above the best one of its subtree weigh exp(−focus · c): a search needs to
        tell good values apart, not bad ones (0 = plain mean squared error).
    validation
        Number of subtrees that are measured but never trained on.
    seed
        Of the initial parameters and the examples.
    examples
        Where examples come from.
    """

    steps: int = 4000
    batch_size: int = 32
    learning_rate: float = 2e-3
    warmup: int = 100
    weight_decay: float = 5e-5
    clip: float = 1.0
    offset_weight: float = 0.01
    offset_share: float = 0.125
    focus: float = 1.0
    validation: int = 500
    seed: int = 0
    examples: Examples = field(default_factory=Examples)

    def __post_init__(self) -> None:
        if min(self.steps, self.batch_size, self.validation) < 1:
            raise ParameterError("steps, batch size and validation subtrees must be at least 1")
        if self.learning_rate <= 0 or self.weight_decay < 0 or self.clip <= 0 or self.warmup < 0:
            raise ParameterError(
                "the learning rate and the clipping norm must be positive, decay and warm-up not negative"
            )
        if not 0 < self.offset_share <= 1 or min(self.offset_weight, self.focus) < 0:
            raise ParameterError("the offset's share lies in (0, 1]; its weight and the focus are not negative")


@dataclass(frozen=True)
class Validation:
    """How good the model is on unseen subtrees, in units of cost / 100."""

    step: int
    mse: float  # mean squared error of the predictions
    centred_mse: float  # the same after subtracting each subtree's mean error: what choosing a value depends on
    regret: float  # how much the value with the least prediction costs above the best one


class Trainer:
    """A model in training."""

    def __init__(self, settings: Pretraining):
        self.settings = settings
        self.step = 0
        self.curve: list[Validation] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self.model = CostModel()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._unseen = self._draw(2**32, settings.validation)  # a stream of no training step

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.step >= self.settings.steps

    def train_step(self) -> float:
        """One update; gives its loss."""
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        examples = self._draw(self.step, settings.batch_size)
        count = max(1, round(settings.offset_share * len(examples)))
        whole, offset = self._losses(examples[:count], constraints=True)
        pruned, _ = self._losses(examples[count:], constraints=False) if examples[count:] else (whole, offset)
        loss = torch.cat([whole, pruned]).mean() + settings.offset_weight * offset.mean()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        self.optimizer.step()
        self.step += 1
        return loss.item()

    @torch.no_grad()
    def validate(self) -> Validation:
        """Measure the model on subtrees of no training step, and add the result to the curve."""
        squares, centred_squares, regrets = [], [], []
        for start in range(0, len(self._unseen), 50):
            examples = self._unseen[start : start + 50]
            predictions = self.model(microstructure([e.subtree for e in examples])).numpy()
            ends = np.cumsum([len(e.label) for e in examples])
            for example, prediction in zip(examples, np.split(predictions, ends[:-1]), strict=True):
                error = prediction - example.label
                squares.append(np.square(error).mean())
                centred_squares.append(error.var())
                regrets.append(example.label[prediction.argmin()] - example.label.min())
        result = Validation(
            self.step, float(np.mean(squares)), float(np.mean(centred_squares)), float(np.mean(regrets))
        )
        self.curve.append(result)
        return result

    def save(self, path: Path) -> None:
        """Write a checkpoint that `load` continues from (safetensors, replaced in one move)."""
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{key}": value.clone() for key, value in moments.items()}
        facts = {"settings": asdict(self.settings), "step": self.step, "curve": [asdict(v) for v in self.curve]}
        with replacing(path, "wb") as stream:
            stream.write(save(tensors, metadata={"pretraining": json.dumps(facts)}))

    def export(self, path: Path) -> None:
        """Write the parameters alone, for the `weights` of the solver."""
        save_file(dict(self.model.state_dict()), path)

    def load(self, path: Path) -> None:
        """Continue from a checkpoint made with the same settings."""
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {}).get("pretraining", "null"))
            if facts is None:
                raise FormatError(f"{path} is not a checkpoint of this training")
            if facts["settings"] != asdict(self.settings):
                raise ParameterError(f"{path} was trained with other settings; give the same ones or another file")
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        self.step = facts["step"]
        self.curve = [Validation(**one) for one in facts["curve"]]
        self.model.load_state_dict(_below("model.", tensors))
        state: dict[int, dict[str, Any]] = {}
        for name, tensor in _below("adam.", tensors).items():
            number, key = name.split(".")
            state.setdefault(int(number), {})[key] = tensor
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})

    def _learning_rate(self) -> float:
        settings = self.settings
        if self.step < settings.warmup:
            return settings.learning_rate * (self.step + 1) / settings.warmup
        progress = (self.step - settings.warmup) / max(1, settings.steps - settings.warmup)
        return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))

    def _draw(self, stream: int, count: int) -> list[Example]:
        rng = generator(self.settings.seed, stream)
        return list(itertools.islice(self.settings.examples.stream(rng), count))

    def _losses(self, examples: Sequence[Example], *, constraints: bool) -> tuple[Tensor, Tensor]:
        """By subtree, the weighted variance of the errors and their squared weighted mean."""
        graph = microstructure([e.subtree for e in examples], constraints=constraints)
        labels = torch.from_numpy(np.concatenate([e.label for e in examples]))
        above = torch.from_numpy(np.concatenate([e.label - e.label.min() for e in examples]))
        owner = torch.from_numpy(graph.value_subtree)

        def mean(values: Tensor) -> Tensor:
            return torch.zeros(len(examples)).index_add(0, owner, weight * values) / total

        weight = torch.exp(-self.settings.focus * above)
        total = torch.zeros(len(examples)).index_add(0, owner, weight)
        error = self.model(graph) - labels
        offset = mean(error)
        return mean((error - offset[owner]).square()), offset.square()


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
