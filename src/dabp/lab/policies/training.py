"""Training the policy of `bp-learned`: evolution finds the best schedules of each family, one fit joins them.

For each family of problems and each length of a run, CMA-ES changes the policy's outputs; what is minimised is the
cost of the best assignment of a run, half the mean and half the best of two runs, over some instances, as a part of
what the schedule that evolution starts from reaches. Then the lengths themselves are compared at equal iterations, and
ridge regression makes one linear function of the instance's features out of the families' best.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.file_lock import Lock
from dabp.errors import FormatError
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.lab.experiments.result_schema import MismatchError, is_number
from dabp.lab.policies.families import FAMILIES, HELD_OUT
from dabp.problem import Problem
from dabp.problem.randomness import generator
from dabp.safe_files import replacing
from dabp.solvers.belief_propagation.policy import (
    FEATURES,
    OUTPUTS,
    SPREAD,
    Vector,
    damping_by_degree,
    features_of,
    schedule_of,
)
from dabp.solvers.belief_propagation.soft_engine import SoftMessages

START = np.array([np.log(24.0), np.log(4.4), np.log(0.25), 0.25, -0.8, 0.0, np.log(0.01), 0.0])
"""Where evolution starts: good on regular and scale-free graphs with random costs."""

LENGTHS = (120, 500)
"""Iterations of the runs that schedules are evolved for."""

COMPARED_LENGTHS = (120, 250, 500, 1000, 2000)
"""Iterations of the runs that are compared at `COMPARED_ITERATIONS` in all."""

COMPARED_ITERATIONS = 4000
"""Iterations of all runs of one length."""

LONG_RUN = 2000
"""Iterations of long runs, whose schedules start from those of 500 iterations."""

LONG_FAMILIES = ("sparse 400", "colouring 300", "regular 800", "grid 40", "Potts 35")
"""Families whose problems are large enough for long runs."""


@dataclass(frozen=True)
class Training:
    """How much is done, and from which seed."""

    instances: int = 3
    generations: int = 10
    population: int = 8
    first_seed: int = 1001
    """Of the instances of each family."""
    seed: int = 0
    ridge: float = 0.1
    """Strength of the regularisation, in units of one example."""


class Subject:
    """One instance, ready for runs."""

    def __init__(self, problem: Problem):
        self.graph = FactorGraph.from_problem(problem, dtype=np.float32)
        self.engine = SoftMessages(problem, self.graph)
        self.features = features_of(self.graph)

    def run(self, outputs: Vector, iterations: int, rng: np.random.Generator) -> float:
        """The best cost of one run; a large one where no assignment was allowed."""
        graph, engine = self.graph, self.engine
        schedule = schedule_of(outputs, graph.num_edges / graph.num_variables, iterations)
        engine.hottest = schedule.beta.start
        engine.reset(damping_by_degree(outputs, graph), rng.uniform(0, schedule.perturbation, len(graph.unary)))
        engine.run_softly(schedule.phases(0, iterations), Rules())
        cost = engine.start_cost
        return cost if np.isfinite(cost) else graph.forbidden * graph.cost_scale


class Family:
    """Some instances of a family, and what the schedule that evolution starts from reaches on them."""

    def __init__(self, name: str, training: Training):
        seeds = range(training.first_seed, training.first_seed + training.instances)
        self.name, self.training = name, training
        self.subjects = [Subject(FAMILIES[name](seed)) for seed in seeds]
        self.features = np.mean([subject.features for subject in self.subjects], axis=0)

    def costs(self, outputs: Vector, length: int, seed: tuple[int, ...], runs: int = 2) -> NDArray[np.float64]:
        """The best cost of each run on each instance, [instances, runs]."""
        streams = [(self.training.seed, *seed, run) for run in range(runs)]
        return np.array([[each.run(outputs, length, generator(*one)) for one in streams] for each in self.subjects])

    def evolved(self, length: int, start: Vector, generations: int) -> dict[str, Any]:
        """The best outputs for runs of this length: CMA-ES over all but the length itself, from `start`."""
        import cma  # for training alone

        training = self.training
        base = self.costs(start, length, (0xE0, 0))
        size = np.maximum(np.abs(base.mean(axis=1, keepdims=True)), 1e-9)

        def loss(x: NDArray[np.float64], generation: int) -> float:
            costs = self.costs(start + np.append(x * SPREAD[:-1], 0.0), length, (0xE0, generation))
            part = (costs - base.mean(axis=1, keepdims=True)) / size
            return float(0.5 * part.mean() + 0.5 * part.min(axis=1).mean())

        seed = 1 + training.seed % (2**32 - 1)  # 0 would be the clock
        options = {"popsize": training.population, "seed": seed, "verbose": -9, "CMA_diagonal": True}
        evolution = cma.CMAEvolutionStrategy(np.zeros(len(OUTPUTS) - 1), 1.0, options)
        curve = []
        for generation in range(generations):
            drawn = evolution.ask()
            losses = [loss(x, generation) for x in drawn]
            evolution.tell(drawn, losses)
            curve.append(float(np.mean(losses)))
        outputs = start + np.append(np.asarray(evolution.mean) * SPREAD[:-1], 0.0)
        return {
            "family": self.name,
            "length": length,
            "features": self.features.tolist(),
            "outputs": outputs.tolist(),
            "curve": curve,
        }

    def lengths(self, outputs: dict[int, Vector]) -> dict[str, Any]:
        """The best costs of runs of each length in 4,000 iterations, as excess over the least of them."""
        found = []
        for length in COMPARED_LENGTHS:
            nearest = outputs[min(outputs, key=lambda known: abs(np.log(known / length)))]
            costs = self.costs(nearest, length, (0xC0, length), runs=max(1, COMPARED_ITERATIONS // length))
            found.append(costs.min(axis=1))
        table = np.array(found)
        least = table.min(axis=0)
        part = (table - least) / np.maximum(np.abs(least), 1e-9)
        means = part.mean(axis=1)
        weights = np.exp(-means / max(float(np.median(means)), 1e-9))
        best = float(np.exp((weights @ np.log(COMPARED_LENGTHS)) / weights.sum()))
        return {"family": self.name, "features": self.features.tolist(), "above": means.tolist(), "best": best}


def tasks() -> Iterator[tuple[str, int]]:
    """(family, length) of all evolutions; length 0 is the comparison of lengths, after them."""
    for name in FAMILIES:
        for length in (*LENGTHS, *(LONG_RUN,) * (name in LONG_FAMILIES), 0):
            yield name, length


def task_of(result: dict[str, Any]) -> tuple[str, int]:
    """Which of the `tasks` a result is of."""
    return result["family"], result.get("length", 0)


def train(training: Training, progress: Path, share: tuple[int, int] = (0, 1)) -> Iterator[dict[str, Any]]:
    """Do what is missing in the file of results, of one share of the families; each result as it is written there."""
    for number, name in enumerate(FAMILIES):
        if number % share[1] != share[0]:
            continue
        done = {task_of(one): one for one in results(progress, training)}
        wanted = [length for family, length in tasks() if family == name and (family, length) not in done]
        if not wanted:
            continue
        family = Family(name, training)
        for length in wanted:
            if length == LONG_RUN:
                result = family.evolved(LONG_RUN, np.array(done[name, LENGTHS[-1]]["outputs"]), 6)
            elif length:
                result = family.evolved(length, START, training.generations)
            else:
                result = family.lengths({known: np.array(done[name, known]["outputs"]) for known in LENGTHS})
            done[name, length] = result
            _append(progress, {**result, "training": asdict(training)})
            yield result


def results(progress: Path, training: Training) -> list[dict[str, Any]]:
    """The results of this training so far.

    Anything else is refused: results of other settings, and whatever is no result, as the file may be anybody's.
    """
    found = []
    for number, line in enumerate(_lines(progress), start=1):
        try:
            found.append(_result_of(line, training))
        except MismatchError as error:
            raise FormatError(str(error), source=str(progress), line=number) from None
    return found


def _lines(progress: Path) -> list[bytes]:
    return progress.read_bytes().splitlines() if progress.exists() else []


def _result_of(line: bytes, training: Training) -> dict[str, Any]:
    """The result of a line; `MismatchError` if it is none, or one of another training."""
    try:
        one = json.loads(line)
        task, features, made = task_of(one), one["features"], one["training"]
        numbers = one["outputs"] if task[1] else [one["best"]]
        known = task in set(tasks()) and ("outputs" in one, "best" in one) == (task[1] > 0, task[1] == 0)
        whole = len(features) == len(FEATURES) and len(numbers) == (len(OUTPUTS) if task[1] else 1)
        finite = all(is_number(number) and abs(number) <= 1e6 for number in (*features, *numbers))
        fits = known and whole and finite and (task[1] > 0 or one["best"] > 0) and isinstance(made, dict)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fits = False
    if not fits:
        raise MismatchError("this is no result of training a policy; take the line or the file away")
    for name, wanted in asdict(training).items():
        if made.get(name) != wanted:
            found = ascii(made.get(name))[:40]
            raise MismatchError(
                f"this result was made with {name} {found}, not {wanted}; continue it with the options that it was "
                "made with, or choose another OUTPUT"
            )
    return {key: value for key, value in one.items() if key != "training"}


def _append(progress: Path, result: dict[str, Any]) -> None:
    """Append a line to a file that other shares append to as well; it is replaced whole."""
    with Lock(progress, wait=True):
        lines = [*_lines(progress), json.dumps(result).encode(), b""]
        with replacing(progress, "wb") as file:
            file.write(b"\n".join(lines))


def fitted(found: list[dict[str, Any]], training: Training, command: str) -> dict[str, Any]:
    """One linear policy out of the families' best, with how it came about: the content of its file."""
    by_task = {task_of(one): one for one in found}  # each counts once
    found = [by_task[task] for task in tasks() if task in by_task]
    evolved = [one for one in found if "outputs" in one]
    compared = [one for one in found if "best" in one]
    x = np.array([one["features"] for one in evolved])
    x[:, -1] = [np.log(one["length"] / 300) / 2 for one in evolved]
    weights = np.zeros((len(OUTPUTS), len(FEATURES)))
    weights[:-1] = _ridge(x, np.array([one["outputs"][:-1] for one in evolved]), training.ridge).T
    lengths = np.log([[one["best"]] for one in compared])
    weights[-1] = _ridge(np.array([one["features"] for one in compared]), lengths, training.ridge)[:, 0]
    return {
        "outputs": list(OUTPUTS),
        "features": list(FEATURES),
        "weights": weights.round(4).tolist(),
        "recipe": {
            "command": command,
            "training": asdict(training),
            "families": list(FAMILIES),
            "held out": list(HELD_OUT),
            "start": START.round(4).tolist(),
            "lengths": [*LENGTHS, LONG_RUN],
            "lasting": list(LONG_FAMILIES),
        },
        "families": found,
    }


def text_of(content: dict[str, Any]) -> str:
    """The policy's file: JSON with a line for each row of numbers, none of them longer than it is known."""
    rounded = json.loads(json.dumps(content), parse_float=lambda number: round(float(number), 4))
    text = json.dumps(rounded, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([-\d.e,\s]+?)\s+\]", lambda row: f"[{' '.join(row[1].split())}]", text) + "\n"


def _ridge(x: NDArray[np.float64], y: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """Least squares with a penalty on all but the first, constant, feature."""
    mean = y.mean(axis=0)
    penalty = strength * np.eye(x.shape[1])
    penalty[0, 0] = 1e-9
    solution = np.linalg.solve(x.T @ x + penalty, x.T @ (y - mean))
    solution[0] += mean
    return np.asarray(solution)
