"""How statements become factors: names, sizes, and when a chain is used."""

from __future__ import annotations

import math

import pytest

from dabp.errors import ProblemError
from dabp.problem.model import Model
from dabp.problem.statements import SMALL, listed, penalty_of


def test_small_statements_are_one_table_and_large_ones_a_chain() -> None:
    """What fits a small table needs no auxiliary variables; of what does not, tables stay small."""
    for count in (3, 10, 11, 30):
        model = Model()
        model.at_most(model.add_variables((f"x{i}" for i in range(count)), 2), 1, 2)
        problem = model.build()
        assert (problem.auxiliaries.count == 0) == (2**count <= SMALL)
        assert (problem.num_factors == 1) == (2**count <= SMALL)
        assert len(problem.pool) <= SMALL


def test_statements_without_a_name_get_one_that_is_free() -> None:
    """Their kind and a number; names that were given are never taken."""
    model = Model()
    names = model.add_variables(["a", "b"], 2)
    model.add_cost("a", [0, 1], name="exactly1")
    model.exactly(names, 1, 1)
    model.exactly(names, 0, 1)
    model.all_different(names, name="apart")
    problem = model.build()
    assert [problem.names.factor(f) for f in range(4)] == ["exactly1", "exactly2", "exactly3", "apart"]


def test_equal_tables_are_stored_once() -> None:
    """Also those of separate statements."""
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(40)), 2)
    model.at_most(names[:20], 1, 3)
    once = len(model.build().pool)
    model.at_most(names[20:], 1, 3)
    assert len(model.build().pool) == once


def test_penalties_are_numbers() -> None:
    """None is forbidden; anything else is at least 0."""
    assert penalty_of(None) == math.inf
    assert penalty_of(2) == 2.0
    for wrong in (-1, math.nan, "1", [1]):
        with pytest.raises(ProblemError, match="number of at least 0"):
            penalty_of(wrong)
    assert listed("a") == ["a"]
    assert listed(("a", "b")) == ["a", "b"]
