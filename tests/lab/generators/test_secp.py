"""Smart environments."""

from __future__ import annotations

import io

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.formats import read
from dabp.lab.generators.secp import secp


def test_costs_are_those_of_pydcop_expressions() -> None:
    """Each table is one of the expressions that pyDCOP's generator writes, with numbers of their ranges."""
    problem = secp(lights=6, models=4, rules=5, max_model_size=4, seed=3)
    kinds = {"c_l": 0, "c_m": 0, "r_": 0}
    for factor in problem.factors:
        kind = next(kind for kind in kinds if factor.name.startswith(kind))
        kinds[kind] += 1
        grids = np.indices(factor.table.shape).astype(float)
        if kind == "c_l":
            assert np.allclose(factor.table, np.arange(5) * factor.table[1])
            assert 0 <= factor.table[1] <= 0.9
        elif kind == "c_m":
            assert set(np.unique(factor.table)) <= {0.0, 10_000.0}
            assert _shares(factor.table, grids), factor.name
        else:
            targets = np.argwhere(factor.table == 0)
            assert len(targets) == 1
            assert (factor.table == 10 * np.abs(grids - targets[0].reshape(-1, *[1] * len(grids))).sum(axis=0)).all()
    assert kinds == {"c_l": 6, "c_m": 4, "r_": 5}


def _shares(table: np.ndarray, grids: np.ndarray) -> bool:
    """Whether some impacts of 0.1 to 0.7 give a model's table."""
    for tenths in np.ndindex(*[7] * (len(grids) - 1)):
        total = sum(grid * ((1 + tenth) / 10) for tenth, grid in zip(tenths, grids[1:], strict=True))
        if ((10 * np.abs(grids[0] - total) < 5) == (table == 0)).all():
            return True
    return False


def test_the_file_of_pydcop() -> None:
    """A problem of the same kind, as pyDCOP writes it, has tables of the same form."""
    text = """
name: s
objective: min
domains: {light: {values: [0 .. 4]}}
variables: {l0: {domain: light}, l1: {domain: light}, m0: {domain: light}}
constraints:
  c_m0: {type: intention, function: '0 if 10* abs(m0 - ( l0 * 0.7 +  l1 * 0.4)) < 5 else 10000 '}
"""
    factor = next(iter(read(io.StringIO(text), "yaml").factors))
    axes = [factor.scope.index(v) for v in (2, 0, 1)]
    assert _shares(factor.table.transpose(axes), np.indices((5, 5, 5)).astype(float))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"lights": 0}, "there are lights"),
        ({"max_model_size": 1}, "max_model_size is 2 to 7 here, not 1"),
        ({"lights": 2}, "max_model_size is 2 to 2 here, not 3"),
        ({"max_rule_size": 9}, "max_rule_size is 1 to 8, not 9"),
    ],
)
def test_what_cannot_be(options: dict[str, int], reason: str) -> None:
    """Sizes that no table is made of are refused."""
    with pytest.raises(ParameterError, match=reason):
        secp(**options)
