"""Kinds of tables are recognised from their costs alone."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.graph.table_kinds import GENERAL, POTTS, TRUNCATED_LINEAR, table_kinds
from dabp.problem import Problem

SIZE = 5
APART = np.abs(np.subtract.outer(np.arange(SIZE), np.arange(SIZE))).astype(float)


def kind_of(table: np.ndarray) -> tuple[int, list[float]]:
    """Of the only table of a problem with two variables."""
    problem = Problem.from_tables(table.shape, [((0, 1), table)])
    kinds, parameters = table_kinds(problem)
    return int(kinds[0]), parameters[0].tolist()


@pytest.mark.parametrize("weight", [3.0, 0.1, -2.5, 0.0])
def test_potts(weight: float) -> None:
    """One cost on the diagonal and one beside it, whichever is larger."""
    assert kind_of(7.0 + weight * (APART > 0)) == (POTTS, [7.0, 7.0 + weight, 0.0])


@pytest.mark.parametrize("reach", [2, 3, SIZE, 2.5])
@pytest.mark.parametrize("weight", [3.0, 0.1, 1 / 3])
def test_truncated_linear(weight: float, reach: float) -> None:
    """The parameters give every cost back, also with weights that are no binary fractions."""
    table = np.minimum(weight * APART, weight * reach)
    kind, (base, slope, top) = kind_of(table)
    assert kind == TRUNCATED_LINEAR
    assert np.array_equal(np.minimum(base + slope * APART, top), table)


def test_other_tables_are_general() -> None:
    """A change of one cell, forbidden cells, squares of distances and tables that are not square."""
    almost = 4.0 * (APART > 0)
    almost[3, 1] = 5.0
    forbidden = np.where(APART > 0, np.inf, 0.0)
    for table in (almost, forbidden, APART**2, -APART, np.zeros((2, 3)), APART + np.arange(SIZE)):
        assert kind_of(table)[0] == GENERAL


def test_two_values_are_enough_for_potts() -> None:
    """With two values a symmetric table is Potts."""
    assert kind_of(np.array([[0.0, 1.0], [1.0, 0.0]])) == (POTTS, [0.0, 1.0, 0.0])
    assert kind_of(np.array([[0.0, 1.0], [2.0, 0.0]]))[0] == GENERAL


def test_many_tables_at_once() -> None:
    """Each of several tables, used by factors in any order, has its own kind."""
    tables = [((0,), np.zeros(SIZE)), ((0, 1), APART), ((1, 2), 2.0 * (APART > 0)), ((0, 2), APART**2)]
    problem = Problem.from_tables([SIZE] * 3, tables)
    kinds, _ = table_kinds(problem)
    of_factor = kinds[problem.factor_table].tolist()
    assert of_factor == [GENERAL, TRUNCATED_LINEAR, POTTS, GENERAL]
