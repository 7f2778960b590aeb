"""``dabp lab train-gat-pcm``: pretrain the cost model of the gat-pcm-lns solver."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.cli.paths import check_output
from dabp.errors import ParameterError
from dabp.packages import require

if TYPE_CHECKING:
    from dabp.lab.cost_model.pretraining import Trainer, Validation


def train_gat_pcm(
    output: Annotated[Path, typer.Argument(help="File for the parameters (.safetensors); a .json goes beside it.")],
    steps: Annotated[int, typer.Option(help="Updates.")] = 4000,
    batch_size: Annotated[int, typer.Option(help="Subtrees in an update.")] = 32,
    learning_rate: Annotated[float, typer.Option(help="First learning rate of Adam; it falls along a cosine.")] = 2e-3,
    weight_decay: Annotated[float, typer.Option(help="Weight decay of Adam.")] = 5e-5,
    focus: Annotated[float, typer.Option(help="How much more good values weigh; 0 is plain squared error.")] = 1.0,
    offset_weight: Annotated[float, typer.Option(help="Weight of the error that all values share.")] = 0.01,
    max_variables: Annotated[int, typer.Option(help="Most variables of a training problem.")] = 16,
    max_domain: Annotated[int, typer.Option(help="Most values of a variable of a training problem.")] = 15,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of PyTorch.")] = 1,
    validate_every: Annotated[int, typer.Option(help="Steps between measurements and checkpoints.")] = 100,
) -> None:
    """Pretrain the cost model of gat-pcm-lns on small random problems with exact labels.

    Progress is saved beside OUTPUT (.checkpoint) and taken up again by the same command.
    """
    require("torch", "pretraining the cost model")
    checkpoint = _checked(output)
    import torch

    from dabp.lab.cost_model.examples import Examples
    from dabp.lab.cost_model.pretraining import Pretraining, Trainer

    torch.set_num_threads(threads)
    examples = Examples(max_variables=max_variables, max_domain=max_domain)
    settings = Pretraining(
        steps=steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        focus=focus,
        offset_weight=offset_weight,
        seed=seed,
        examples=examples,
    )
    trainer = Trainer(settings)
    if checkpoint.exists():
        trainer.load(checkpoint)
        print(f"dabp: continuing from step {trainer.step} ({checkpoint})", file=sys.stderr)
    try:
        _train(trainer, checkpoint, validate_every)
    except KeyboardInterrupt:
        trainer.save(checkpoint)
        print(f"dabp: stopped at step {trainer.step}; the same command continues", file=sys.stderr)
        raise typer.Exit(130) from None
    trainer.export(output)
    report = {
        "command": shlex.join(["dabp", *sys.argv[1:]]),
        "settings": asdict(trainer.settings),
        "threads": threads,
        "validation": [asdict(one) for one in trainer.curve],
    }
    output.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    checkpoint.unlink(missing_ok=True)
    print(f"{output}: {_words(trainer.curve[-1])}")


def _checked(output: Path) -> Path:
    """Where progress is saved, once it is clear that all files can be written: training takes hours."""
    check_output(output)
    report, checkpoint = output.with_suffix(".json"), output.with_suffix(".checkpoint")
    if output in (report, checkpoint):
        raise ParameterError(f"{output} is the name of a file beside the parameters; give them another suffix")
    check_output(report)
    check_output(checkpoint, replaced=True)
    return checkpoint


def _train(trainer: Trainer, checkpoint: Path, validate_every: int) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from dabp.cli.display import console

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console(stderr=True)) as progress:
        first = trainer.curve[-1] if trainer.curve else trainer.validate()
        task = progress.add_task(_words(first), total=trainer.settings.steps, completed=trainer.step)
        while not trainer.finished:
            trainer.train_step()
            progress.update(task, completed=trainer.step)
            if trainer.step % validate_every == 0 or trainer.finished:
                progress.update(task, description=_words(trainer.validate()))
                trainer.save(checkpoint)


def _words(validation: Validation) -> str:
    return f"error {validation.centred_mse:.4f}, regret {validation.regret:.4f}"
