"""Problems that differ in their costs alone: the same answers as problems made anew, and the structure is shared."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dabp
from dabp.errors import ProblemError
from dabp.graph import FactorGraph
from dabp.graph.components import component_labels
from dabp.graph.elimination_order import elimination_order
from dabp.graph.message_layout import make_layout
from dabp.problem import Problem, facts
from dabp.problem.facts import structural, within_limit
from tests.problems import all_assignments, random_problem


def made_anew(problem: dabp.Problem, **changes: object) -> dabp.Problem:
    """The same columns through the constructor, sharing nothing."""
    return dabp.Problem(**{**problem._arguments(), **changes})


def other_costs(problem: dabp.Problem, seed: int) -> np.ndarray:
    """As many costs, some of them forbidden."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 50, len(problem.pool)).astype(float)
    costs[rng.random(len(costs)) < 0.1] = problem.facts.forbidden
    return costs


@pytest.mark.parametrize("seed", range(12))
def test_other_costs_are_those_of_a_problem_made_anew(seed: int) -> None:
    """Every assignment costs the same, and what follows from costs and structure agrees, also after use."""
    problem = random_problem(seed)
    dabp.solve(problem, "dbp", max_iterations=2)  # fills what is kept
    costs = other_costs(problem, seed)
    changed, fresh = problem.with_costs(costs, constant=3.0), made_anew(problem, pool=costs, constant=3.0)
    assert changed == fresh
    assert changed.facts.digest == fresh.facts.digest
    assert (changed.facts.magnitude, changed.facts.integral, changed.facts.num_constraints) == (
        fresh.facts.magnitude,
        fresh.facts.integral,
        fresh.facts.num_constraints,
    )
    every = np.array(list(itertools.product(*(range(d) for d in problem.domain_sizes.tolist()))))
    assert changed.cost(every).tolist() == fresh.cost(every).tolist()


@pytest.mark.parametrize("solver", ["bp", "dbp-scfg", "annealing", "tabu", "dsa", "mbe", "dual", "auto"])
def test_solvers_do_not_notice_what_is_shared(solver: str) -> None:
    """A stream's third problem, solved with all that the others left behind, has the trace of one made anew."""
    problem = random_problem(5)
    for seed in range(3):
        changed = problem.with_costs(other_costs(problem, seed))
        shared = dabp.solve(changed, solver, max_iterations=30, seed=seed)
        alone = dabp.solve(made_anew(changed), solver, max_iterations=30, seed=seed)
        assert (shared.cost, shared.status, shared.bound) == (alone.cost, alone.status, alone.bound)
        assert shared.trace.iteration_costs.tolist() == alone.trace.iteration_costs.tolist()


def test_layouts_hold_the_new_costs() -> None:
    """Kernels read arrays: those of a problem with other costs are those of one made anew, number by number."""
    problem = random_problem(7, maximize=False)
    for split in (None, 0.4):
        make_layout(problem, FactorGraph.from_problem(problem, split), 8)
        changed = problem.with_costs(other_costs(problem, 1))
        fresh = made_anew(changed)
        one = make_layout(changed, FactorGraph.from_problem(changed, split), 8)
        two = make_layout(fresh, FactorGraph.from_problem(fresh, split), 8)
        for name in ("variables", "pairs", "many", "exact"):
            for field, value in getattr(one, name)._asdict().items():
                assert np.array_equal(value, getattr(getattr(two, name), field)), (name, field)
        assert np.array_equal(one.tables, two.tables)


def test_structure_is_computed_once() -> None:
    """Components and elimination orders are the same objects; not for other scopes or another sharing of tables."""
    problem = random_problem(3)
    changed = problem.with_costs(2 * problem.pool).replace(constant=1.0)
    assert component_labels(changed)[0] is component_labels(problem)[0]
    assert elimination_order(changed) is elimination_order(problem)
    assert changed.facts.arity_groups is problem.facts.arity_groups
    ends = np.append(problem.pool_offsets, len(problem.pool) + 1)
    apart = problem.replace(pool=np.append(problem.pool, 0.0), pool_offsets=ends)
    assert apart.facts.arity_groups is not problem.facts.arity_groups


def test_what_is_bulky_is_not_kept_of_large_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit it is computed each time: a large problem does not hold as much again as it is."""
    calls = []
    problem = random_problem(2)
    monkeypatch.setattr(facts, "BULKY", len(problem.pool) + len(problem.scope_variables) - 1)
    assert [structural(problem, lambda p, n: calls.append(n), 1, bulky=True) for _ in range(2)] == [None, None]
    assert calls == [1, 1]


def test_tables_by_name_and_number() -> None:
    """Only those that are named change; one that others share becomes the function's own, and theirs stays."""
    model = dabp.Model()
    model.add_variables("abc", 2)
    model.add_costs([["a", "b"], ["b", "c"]], [[0, 1], [2, 3]])
    model.add_cost("a", [5, 6], name="own")
    problem = model.build()
    assert len(problem.pool) == 6
    changed = problem.with_tables({"own": [7, 8], 1: [[9, 9], [9, 0]]})
    assert changed.table(0).tolist() == [[0, 1], [2, 3]]
    assert changed.table(1).tolist() == [[9, 9], [9, 0]]
    assert changed.table(2).tolist() == [7, 8]
    assert problem.table(1).tolist() == [[0, 1], [2, 3]]
    again = changed.with_tables([np.ones((2, 2)), np.zeros((2, 2)), [1, 2]])
    assert again.cost([0, 0, 0]) == 2
    assert again.facts.arity_groups is changed.facts.arity_groups


def test_tables_that_do_not_fit_are_refused() -> None:
    """In one sentence each: the wrong shape, number, name, a name of several, one named twice, no number at all."""
    model = dabp.Model()
    model.add_variables("ab", 2)
    model.add_cost("a", [1, 2], name="twin")
    model.add_cost("b", [1, 2], name="twin")
    problem = model.build()
    refused = [
        ({0: [1, 2, 3]}, "needs shape"),
        ({5: [1, 2]}, "numbered from 0 to 1"),
        ({-1: [1, 2]}, "numbered from 0 to 1"),
        ({0.5: [1, 2]}, "numbered from 0 to 1"),
        ({True: [1, 2]}, "numbered from 0 to 1"),
        ({0: ["a", "b"]}, "number"),
        ({0: None}, "not a NoneType"),
        (None, "with_tables takes"),
        ({"x": [1, 2]}, "no cost function 'x'"),
        ({"twin": [1, 2]}, "several cost functions"),
        ([[1, 2]], "need as many tables"),
        ({0: [np.nan, 2]}, "not a number"),
        ({0: [-np.inf, 2]}, "-inf while minimising"),
    ]
    for tables, words in refused:
        with pytest.raises(ProblemError, match=words):
            problem.with_tables(tables)
    for costs in ([1.0], np.ones((4, 1)), np.full(4, np.nan), None, "x", [1, "a", 2, 3]):
        with pytest.raises(ProblemError):
            problem.with_costs(costs)


def test_a_caller_may_go_on_writing_its_array() -> None:
    """Costs are copied: what is done to the array later changes no problem."""
    problem = random_problem(1)
    costs = problem.pool.copy()
    changed = problem.with_costs(costs)
    costs[:] = 0
    assert np.array_equal(changed.pool, problem.pool)


def test_tables_by_label() -> None:
    """Dictionaries and pandas' objects are aligned as a model aligns them."""
    model = dabp.Model()
    model.add_variables("ab", ["x", "y"])
    model.add_cost("a", [1, 2], name="own")
    model.add_cost(["a", "b"], np.zeros((2, 2)), name="both")
    problem = model.build()
    frame = pd.DataFrame([[1, 2], [3, 4]], index=["y", "x"], columns=["y", "x"])
    changed = problem.with_tables({"own": {"y": 5, "x": 6}, "both": frame})
    assert changed.table(0).tolist() == [6, 5]
    assert changed.table(1).tolist() == [[4, 3], [2, 1]]


def test_what_defines_auxiliary_variables_stays() -> None:
    """A sum's own tables cannot be replaced; the costs beside it can, and answers still hide its variables."""
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(16)], 3)
    model.linear(dict.fromkeys(names, 1), "<=", 4)
    model.add_cost("x0", [3, 2, 0], name="price")
    problem = model.build()
    assert problem.auxiliaries.count > 0
    changed = problem.with_tables({"price": [0, 1, 5]})
    assert dabp.solve(changed, "mbe").values == dict.fromkeys(names, 0)
    with pytest.raises(ProblemError, match="define auxiliary"):
        problem.with_costs(problem.pool[::-1].copy())


def test_problems_of_one_structure_are_solved_at_the_same_time() -> None:
    """Threads share what is compiled and write none of it: each has the answer that it has alone."""
    problem = dabp.generate("random-cop", variables=30, domain=4, density=0.2, seed=0)
    changed = [problem.with_costs(other_costs(problem, seed)) for seed in range(16)]

    def solved(each: dabp.Problem) -> list[float]:
        return dabp.solve(each, "dbp", max_iterations=40).trace.iteration_costs.tolist()

    alone = [solved(made_anew(each)) for each in changed]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(solved, changed)) == alone


def unary(costs: list[float], **options: object) -> Problem:
    """One variable whose costs these are."""
    return Problem([len(costs)], [0], [0, 1], costs, [0, len(costs)], **options)  # type: ignore[arg-type]


def test_magnitude_bounds_every_total() -> None:
    """The largest finite cost of each factor, shared tables counted for each, and the constant."""
    problem = Problem([2, 2], [0, 1], [0, 1, 2], [3, np.inf], [0, 2], [0, 0], constant=-4)
    assert (problem.facts.table_magnitude, problem.facts.magnitude) == (6.0, 10.0)
    assert (problem.facts.integral, problem.facts.integral_tables, problem.facts.rounding_error) == (True, True, 0.0)


def test_kinds_of_cost() -> None:
    """Integers, decimals with any constant, and reals."""
    assert unary([1, 2]).facts.decimal_digits == 0
    assert unary([0.25, 1.5], constant=np.pi).facts.decimal_digits == 2
    assert not unary([1, 2], constant=0.5).facts.integral
    assert unary([np.pi, 1]).facts.decimal_digits is None


@pytest.mark.parametrize("maximize", [False, True])
def test_decimals_meet_their_limit_exactly(maximize: bool) -> None:
    """0.1 + 0.2 is not better than 0.3, though its float is larger; 0.7 + 0.1 is not better than 0.8."""
    sign = -1.0 if maximize else 1.0
    for first, second, limit in ((0.1, 0.2, 0.3), (0.7, 0.1, 0.8)):
        problem = Problem(
            [1, 1], [0, 1], [0, 1, 2], [sign * first, sign * second], [0, 1, 2], limit=sign * limit, maximize=maximize
        )
        assert not within_limit(problem, problem.cost([0, 0]), [0, 0])
        assert problem.facts.excludes(problem.cost([0, 0]))
        better = problem.replace(limit=sign * (limit + 0.1))
        assert within_limit(better, better.cost([0, 0]), [0, 0])
        assert not better.facts.excludes(better.cost([0, 0]))


def test_a_large_constant_does_not_blur_a_limit() -> None:
    """A total of 1000000000.25 is better than 1000000000.90; without a limit everything is."""
    problem = unary([0.25, 10.5], constant=1e9, limit=1000000000.90)
    assert within_limit(problem, problem.cost([0]), [0])
    assert not within_limit(problem, problem.cost([1]), [1])
    assert within_limit(unary([1.0]), 1e300)
    assert not unary([1.0]).facts.excludes(1e300)


def test_reals_too_near_to_tell_are_summed_exactly() -> None:
    """Given the assignment, the exact sum decides where floats cannot."""
    rng = np.random.default_rng(3)
    costs = rng.normal(size=12) * 10.0 ** rng.integers(-6, 6, 12)
    problem = Problem([1] * 12, np.arange(12), np.arange(13), costs, np.arange(13))
    total = problem.cost([0] * 12)
    exact = math.fsum(costs.tolist())
    for limit in (np.nextafter(total, -np.inf), total, np.nextafter(total, np.inf)):
        limited = problem.replace(limit=float(limit))
        assert within_limit(limited, total, [0] * 12) == (math.fsum([*costs.tolist(), -float(limit)]) < 0)
    assert abs(exact - total) <= problem.facts.rounding_error


@pytest.mark.parametrize("seed", range(60))
def test_a_total_is_off_by_no_more_than_its_rounding_error(seed: int) -> None:
    """Every total of floats against the exact sum, with a constant and scales that spoil the last places."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    problem = problem.replace(pool=problem.pool * 10.0 ** rng.integers(-6, 6), constant=float(rng.choice([0.1, 1e9])))
    for values in all_assignments(problem)[:40]:
        costs = problem.factor_costs(values)
        if np.isfinite(costs).all():
            exact = sum(map(Fraction, costs.tolist()), Fraction(problem.constant))
            assert abs(Fraction(problem.cost(values)) - exact) <= Fraction(problem.facts.rounding_error)


def test_a_limit_is_no_proof_of_infeasibility_within_rounding() -> None:
    """A bound of real costs excludes everything only if it is beyond the limit by more than rounding can do."""
    problem = Problem([2], [0], [0, 1], [np.pi, np.e], [0, 2], limit=np.e)
    assert not problem.facts.excludes(np.e)
    assert problem.facts.excludes(np.e + 1e-12)
