"""Which variables follow from others."""

import itertools

import numpy as np

import dabp
from dabp.graph.following import following
from dabp.problem import Problem


def _sums() -> Problem:
    """A sum of five terms, stated through partial sums."""
    model = dabp.Model()
    names = model.add_variables(["a", "b", "c", "d", "e"], 3)
    model.linear(dict(zip(names, (3, 5, 7, 11, 13), strict=True)), "<=", 40)
    return model.build()


def test_auxiliary_variables_follow() -> None:
    """Partial sums are found to follow from the terms, as the model says they do."""
    problem = _sums()
    found = following(problem)
    assert found.free.tolist() == list(range(problem.auxiliaries.num_visible))
    assert sorted(one.variable for one in found.definitions) == list(
        range(problem.auxiliaries.num_visible, problem.num_variables)
    )


def test_each_follows_from_earlier_ones() -> None:
    """In the order of the definitions all other variables of a factor are known before the one that follows."""
    problem = _sums()
    found = following(problem)
    known = set(found.free.tolist())
    for variable, factor, place in found.definitions:
        scope = problem.scope_variables[slice(*problem.scope_offsets[factor : factor + 2])].tolist()
        assert scope.pop(place) == variable
        assert set(scope) <= known
        known.add(variable)
    assert len(known) == problem.num_variables


def test_values_that_follow_are_the_only_ones_allowed() -> None:
    """Whatever the other variables are, no factor leaves a variable that follows from it a second value."""
    problem = _sums()
    for variable, factor, place in following(problem).definitions:
        scope = problem.scope_variables[slice(*problem.scope_offsets[factor : factor + 2])]
        others = [range(problem.domain_sizes[i]) for i in scope.tolist() if i != variable]
        table = problem.pool[slice(*problem.pool_offsets[problem.factor_table[factor] :][:2])]
        table = table.reshape(problem.domain_sizes[scope])
        for values in itertools.product(*others):
            at = (*values[:place], slice(None), *values[place:])
            assert np.isfinite(table[at]).sum() <= 1


def test_who_says_most_is_free() -> None:
    """A variable that several copies look at is free, though it comes after them."""
    one_of_three = [np.array([[0.0, np.inf], [0.0, np.inf], [0.0, np.inf]]) for _ in range(3)]
    for value, table in enumerate(one_of_three):
        table[value] = (np.inf, 0.0)
    problem = Problem.from_tables([2, 2, 2, 3], [((3, i), table) for i, table in enumerate(one_of_three)])
    found = following(problem)
    assert found.free.tolist() == [3]
    assert len(found.definitions) == 3


def test_nothing_follows_where_nothing_is_forbidden() -> None:
    """Soft problems, and tables that leave two values, have free variables only."""
    differ = np.where(np.eye(3) > 0, np.inf, 0.0)
    for table in (differ, np.ones((3, 3))):
        found = following(Problem.from_tables([3] * 4, [((i, i + 1), table) for i in range(3)]))
        assert found.definitions == []
        assert len(found.free) == 4
