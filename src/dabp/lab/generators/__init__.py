"""Benchmark families by name, seeded: the paper's (App. C.1), and three that pyDCOP generates, in its parameters.

Each of the paper's families follows the authors' program (its numbers are what the paper's Table 1 shows); where the
paper's text says otherwise, ``variant="text"`` gives that. To add a family: write a module with a function of keyword
arguments that returns a `Problem`, and add a line to `GENERATORS`.
"""

from __future__ import annotations

import importlib
import typing
from collections.abc import Callable, Mapping
from typing import Any

from dabp.errors import ParameterError, suggestion
from dabp.problem import Problem
from dabp.solvers.hints import check_types

GENERATORS: dict[str, str] = {
    "random-cop": "random_cop",
    "graph-coloring": "graph_coloring",
    "scale-free": "scale_free",
    "small-world": "small_world",
    "ising": "ising",
    "meetings": "meetings",
    "secp": "secp",
}
"""Name on the command line → module and function of the same name."""

LARGEST_COST = 10**12
"""So that totals of thousands of them stay exact."""


def generator_function(family: str) -> Callable[..., Problem]:
    """The function behind a family's name."""
    if family not in GENERATORS:
        raise ParameterError(f"there is no generator {family!r}{suggestion(family, GENERATORS)}")
    name = GENERATORS[family]
    function: Callable[..., Problem] = getattr(importlib.import_module(f"dabp.lab.generators.{name}"), name)
    return function


def generate(family: str, **parameters: Any) -> Problem:
    """A problem of a family: ``generate("random-cop", variables=60, domain=15, density=0.25, seed=1)``."""
    check_parameters(family, parameters)
    return generator_function(family)(**parameters)


def check_parameters(family: str, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that a family does not have, and values that are of no use as theirs."""
    hints = typing.get_type_hints(generator_function(family))
    del hints["return"]
    for key in parameters:
        if key not in hints:
            raise ParameterError(f"generator {family!r} has no parameter {key!r}{suggestion(key, hints)}")
    check_types(f"generator {family!r}", parameters, hints)
    if parameters.get("seed", 0) < 0:
        raise ParameterError(f"a seed is at least 0, not {parameters['seed']}")
    least = 1 if family == "graph-coloring" else 0
    if not least <= parameters.get("max_cost", least) <= LARGEST_COST:
        raise ParameterError(f"max_cost of {family!r} is {least} to {LARGEST_COST:,}, not {parameters['max_cost']}")
