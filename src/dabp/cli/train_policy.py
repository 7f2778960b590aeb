"""``dabp lab train-policy``: train the policy of the bp-learned solver."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from dabp.cli.paths import check_apart, check_output
from dabp.errors import ParameterError
from dabp.packages import require
from dabp.safe_files import replacing


def train_policy(
    output: Annotated[Path, typer.Argument(help="File for the policy (.json).")],
    instances: Annotated[int, typer.Option(help="Problems of each family.", min=1)] = 3,
    generations: Annotated[int, typer.Option(help="Generations for each family and length.", min=1)] = 10,
    population: Annotated[int, typer.Option(help="Schedules in a generation.", min=4)] = 8,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.", min=0)] = 0,
    share: Annotated[
        str, typer.Option(metavar="PART", help="The share of the families to train here: 0/2 and 1/2 make the whole.")
    ] = "0/1",
) -> None:
    """Train the policy of bp-learned by evolution over families of problems.

    Results are kept beside OUTPUT (.progress), and the same command continues; the last share writes the policy. All
    shares need the same other options. `dabp solve FILE --solver bp-learned --param policy=OUTPUT` uses the policy.
    """
    require("cma", "training the policy")
    from dabp.lab.policies.training import Training, fitted, results, task_of, tasks, text_of, train

    parts = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", share)
    if parts is None or int(parts[1]) >= int(parts[2]):
        raise ParameterError(f"--share is a part such as 0/2 or 1/2, not {share!r}")
    check_output(output)
    progress = output.with_suffix(".progress")
    check_apart({"OUTPUT": output, "its results": progress}, ())
    check_output(progress, replaced=True)
    training = Training(instances=instances, generations=generations, population=population, seed=seed)
    for result in train(training, progress, (int(parts[1]), int(parts[2]))):
        what = f"{result['length']} iterations" if result.get("length") else f"lengths: {result['best']:.0f}"
        print(f"dabp: {result['family']}, {what}", file=sys.stderr, flush=True)
    found = results(progress, training)
    missing = set(tasks()) - {task_of(one) for one in found}
    if missing:
        print(
            f"dabp: {progress} has {len(missing)} results to come; other shares are still to be done", file=sys.stderr
        )
        return
    command = shlex.join(["dabp", *sys.argv[1:]])
    with replacing(output) as file:
        file.write(text_of(fitted(found, training, command)))
    print(output)
