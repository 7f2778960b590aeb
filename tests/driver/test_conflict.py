"""Conflicts: contradictory, and minimal under removal, by exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem.model import Model
from tests.infeasible import broken_names, infeasible_problem


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_conflicts_are_contradictory_and_minimal(first: int) -> None:
    """On a hundred infeasible problems: no assignment satisfies all of a conflict, some does without any one of it."""
    for seed in range(first, first + 10):
        problem = infeasible_problem(seed)
        found = dabp.conflict(problem)
        assert found is not None
        assert found.proved
        assert found.minimal
        names = set(found.constraints)
        assert len(names) == len(found.constraints) == len(found.scopes)
        _, broken = broken_names(problem)
        assert all(each & names for each in broken)
        for name in names:
            assert any(not each & (names - {name}) for each in broken), (seed, name)


def test_what_is_feasible_has_none() -> None:
    """Nor has what is feasible once its costs are left aside; with values held, it may."""
    model = Model()
    names = model.add_variables("abc", 3)
    model.all_different(names, name="apart")
    model.add_cost("a", [5, 1, 2])
    assert dabp.conflict(model) is None
    found = dabp.conflict(model, fix={"a": 0, "b": 0})
    assert found is not None
    assert found.constraints == ("apart",)
    assert found.scopes == (("a", "b", "c"),)
    assert found.sentence == "this constraint allows nothing"


def test_limits_on_the_total_are_given() -> None:
    """What no assignment can reach is a conflict of no constraints, or of those that make it so dear."""
    model = Model()
    model.add_variables("ab", 2)
    model.add_cost("a", [1, 5])
    model.forbid("a", [0], name="not 0")
    model.forbid("b", [0], name="beside")
    problem = model.build()
    assert dabp.conflict(problem.replace(limit=6.0)) is None
    found = dabp.conflict(problem.replace(limit=4.0))
    assert found is not None
    assert found.constraints == ("not 0",)
    hopeless = dabp.conflict(problem.replace(limit=1.0))
    assert hopeless is not None
    assert hopeless.constraints == ()
    assert "whatever the hard constraints" in hopeless.sentence


def test_a_limit_is_admitted() -> None:
    """Without time nothing is proved, and the sentence says so."""
    model = Model()
    names = model.add_variables((f"p{i}" for i in range(6)), 5)
    model.all_different(names)
    found = dabp.conflict(model, time_limit=0)
    assert found is not None
    assert not found.proved
    assert not found.minimal
    assert "before it was clear" in found.sentence
    with pytest.raises(ParameterError, match="time limit"):
        dabp.conflict(model, time_limit=-1)


def test_long_statements_are_one_constraint() -> None:
    """Chains through auxiliary variables are named as a whole, with the variables that people know."""
    rng = np.random.default_rng(0)
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(14)), 2)
    model.linear(dict(zip(names, rng.integers(1, 9, 14).tolist(), strict=True)), "<=", 10, name="budget")
    model.at_least(names, 1, 9, name="enough")
    model.at_most(names, 1, 12, name="idle")
    found = dabp.conflict(model)
    assert found is not None
    assert set(found.constraints) == {"budget", "enough"}
    assert [set(scope) for scope in found.scopes] == [set(names)] * 2
