"""Smart environment configuration problems, in pyDCOP's parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.lab.generators.graphs import check_size
from dabp.problem import Problem

LEVELS = 5
"""A light or a model has a level from 0 to 4."""
LARGEST = 8
"""Lights and models in one cost function, at most: tables have 5^size cells."""

Table = NDArray[np.float64]


def secp(
    lights: int = 10,
    models: int = 3,
    rules: int = 2,
    max_model_size: int = 3,
    max_rule_size: int = 3,
    seed: int = 0,
) -> Problem:
    """Lights that serve models and rules (Rust, Picard & Ramparany 2016), as ``pydcop generate secp``.

    A light costs its level times its efficiency, 0 to 0.9. A model's level is that of the sum of some lights, each by
    a factor of 0.1 to 0.7: if it is off by half a level or more, that costs 10,000. A rule wants some lights and
    models at levels of its own, and costs 10 for each level that they are off.

    Parameters
    ----------
    lights, models, rules
        How many of each.
    max_model_size, max_rule_size
        Largest numbers of lights of a model, from two, and of lights and models of a rule, from one.
    seed
        Decides everything.
    """
    if lights < 1 or models < 0 or rules < 0:
        raise ParameterError(f"there are lights, maybe models and rules: {lights}, {models} and {rules}")
    if models and not 2 <= max_model_size <= min(lights, LARGEST - 1):
        raise ParameterError(f"max_model_size is 2 to {min(lights, LARGEST - 1)} here, not {max_model_size}")
    if rules and not 1 <= max_rule_size <= LARGEST:
        raise ParameterError(f"max_rule_size is 1 to {LARGEST}, not {max_rule_size}")
    largest = 5 ** max(1, max_model_size + 1 if models else 1, max_rule_size if rules else 1)
    check_size(lights + models, 5 * lights + (models + rules) * largest / 2)
    rng = np.random.default_rng(seed)
    levels = np.arange(LEVELS, dtype=np.float64)
    tables: list[tuple[tuple[int, ...], Table]] = [
        ((i,), levels * (int(rng.integers(0, 91)) / 100)) for i in range(lights)
    ]
    for j in range(models):
        chosen = rng.permutation(lights)[: rng.integers(2, max_model_size + 1)].tolist()
        impact = rng.integers(1, 8, len(chosen)) / 10
        sums = np.add.outer(levels, -_outer_sum([levels * share for share in impact]))
        tables.append(((lights + j, *chosen), np.where(10 * np.abs(sums) < 5, 0.0, 10_000.0)))
    for _ in range(rules):
        size = int(rng.integers(1, min(max_rule_size, lights + models) + 1))
        of_lights = int(rng.integers(max(0, size - models), min(size, lights) + 1))
        chosen = rng.permutation(lights)[:of_lights].tolist()
        chosen += (lights + rng.permutation(models)[: size - of_lights]).tolist()
        targets = rng.integers(0, LEVELS, size).tolist()
        tables.append((tuple(chosen), 10 * _outer_sum([np.abs(levels - target) for target in targets])))
    names = [f"l{i}" for i in range(lights)] + [f"m{j}" for j in range(models)]
    factors = [f"c_{name}" for name in names] + [f"r_{k}" for k in range(rules)]
    problem = Problem.from_tables([LEVELS] * len(names), tables, variable_names=names)
    return problem.replace(factor_names=factors, name=f"SECP_{lights}_{models}_{rules}")


def _outer_sum(parts: list[Table]) -> Table:
    """A table with an axis for each part, whose cells add up an entry of each."""
    total = np.zeros(())
    for part in parts:
        total = np.add.outer(total, part)
    return total
