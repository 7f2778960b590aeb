"""The registry of families: names, seeds and parameters."""

from __future__ import annotations

import pytest

from dabp.errors import ParameterError
from dabp.lab.generators import GENERATORS, generate


@pytest.mark.parametrize("family", GENERATORS)
def test_same_seed_same_problem(family: str) -> None:
    """A seed decides everything; another seed gives another problem."""
    assert generate(family, seed=3) == generate(family, seed=3)
    assert generate(family, seed=3) != generate(family, seed=4)


def test_default_sizes() -> None:
    """The paper's families have its 60 variables by default, those of pyDCOP are small."""
    sizes = {family: generate(family).num_variables for family in GENERATORS}
    assert all(size == (60 if family not in ("ising", "meetings", "secp") else size) for family, size in sizes.items())
    assert (sizes["ising"], sizes["secp"]) == (100, 13)


@pytest.mark.parametrize(
    "arguments",
    [
        {"family": "random-cob"},
        {"family": "random-cop", "m0": 3},
        {"family": "random-cop", "variables": 0},
        {"family": "random-cop", "density": 2.0},
        {"family": "random-cop", "variant": "mine"},
        {"family": "scale-free", "m1": 0},
        {"family": "small-world", "p": -0.1},
        {"family": "random-cop", "seed": -1},
        {"family": "random-cop", "max_cost": -1},
        {"family": "random-cop", "variables": 3, "max_cost": 10**20},
        {"family": "random-cop", "variables": 10**9},
        {"family": "random-cop", "variables": 10**6},
        {"family": "graph-coloring", "variables": 10**6, "variant": "text", "density": 0.0},
        {"family": "scale-free", "domain": 10**9},
        {"family": "graph-coloring", "max_cost": 0},
        {"family": "scale-free", "variables": 5.5},
        {"family": "small-world", "variables": True},
        {"family": "random-cop", "density": "0.3"},
        {"family": "random-cop", "domain": 0},
        {"family": "ising", "row_count": 0},
    ],
)
def test_wrong_parameters_are_refused(arguments: dict[str, object]) -> None:
    """A wrong name or value is one sentence, not a crash."""
    with pytest.raises(ParameterError):
        generate(**arguments)  # type: ignore[arg-type]
