"""Several answers that differ from one another."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver, Step
from tests.problems import random_problem


def greedy(problem: Problem, solutions: int, distance: int, among: list[int]) -> list[float]:
    """The costs of the best answers, each at `distance` from all earlier ones, by enumeration.

    Ties make later answers depend on which of the equal ones came first; the first cost that may is the last one here.
    """
    visible = problem.num_variables - problem.auxiliaries.count
    rows = np.array(list(itertools.product(*(range(d) for d in problem.domain_sizes[:visible].tolist()))))
    costs = np.array([problem.cost(row) for row in rows])
    limit = np.inf if problem.limit is None else problem.limit
    sign = -1.0 if problem.maximize else 1.0
    order = [i for i in np.argsort(sign * costs, kind="stable").tolist() if np.isfinite(costs[i])]
    order = [i for i in order if sign * costs[i] < sign * limit or problem.limit is None]
    found: list[int] = []
    for i in order:
        if all((rows[i][among] != rows[j][among]).sum() >= distance for j in found):
            found.append(i)
    return costs[found[:solutions]].tolist()


@pytest.mark.parametrize("seed", range(60))
def test_the_best_answers_equal_enumeration(seed: int) -> None:
    """Ties, forbidden combinations, maximised problems, mixed arities and one-valued domains."""
    problem = random_problem(seed, max_variables=6)
    wanted = greedy(problem, 4, 1, list(range(problem.num_variables)))
    results = dabp.solve_several(problem, 4, time_limit=20, threads=1)
    costs = [result.cost for result in results if result.assignment is not None]
    assert costs == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert len({result.assignment.tobytes() for result in results if result.assignment is not None}) == len(costs)
    assert all(result.status.value == "OPTIMAL" for result in results[: len(costs)])
    if len(costs) < 4:
        assert results[-1].status.value == "INFEASIBLE"
    for result in results[: len(costs)]:
        assert problem.cost(result.assignment) == result.cost


@pytest.mark.parametrize("seed", range(20))
def test_answers_keep_their_distance(seed: int) -> None:
    """In the variables that count, whatever the costs; without ties the answers are those of enumeration."""
    rng = np.random.default_rng(seed)
    tables = [((i, j), rng.random((3, 3))) for i, j in itertools.combinations(range(5), 2)]
    problem = Problem.from_tables([3] * 5, tables)
    among = [0, 2, 3] if seed % 2 else list(range(5))
    results = dabp.solve_several(problem, 3, distance=2, among=[f"x{i}" for i in among], time_limit=20, threads=1)
    assert [result.cost for result in results] == pytest.approx(greedy(problem, 3, 2, among))
    for a, b in itertools.combinations([np.asarray(result.assignment) for result in results], 2):
        assert (a[among] != b[among]).sum() >= 2


def test_auxiliary_variables_neither_count_nor_show() -> None:
    """Answers of a model with sums are told apart by what the model names."""
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(12)], 2)
    model.linear(dict.fromkeys(names, 1), "==", 11)
    for i, name in enumerate(names):
        model.add_cost([name], [float(i), 0.0])
    results = dabp.solve_several(model, 13, time_limit=30, threads=1)
    assert [result.cost for result in results[:12]] == [float(i) for i in range(12)]
    assert (len(results), results[-1].status.value) == (13, "INFEASIBLE")
    assert all(set(result.values or {}) <= set(names) for result in results)


def test_long_problems_without_proof() -> None:
    """Answers of local search differ and keep the limit together."""
    problem = dabp.generate("random-cop", variables=60, density=0.25, seed=3)
    results = dabp.solve_several(problem, 3, distance=10, solver="annealing", time_limit=1.5, threads=1)
    assert len(results) == 3
    for a, b in itertools.combinations(results, 2):
        assert (np.asarray(a.assignment) != np.asarray(b.assignment)).sum() >= 10
    assert sum(result.runtime for result in results) < 4


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_and_solves_agree(seed: int) -> None:
    """With a limit that rules out enumeration the same costs are proved one by one, and the list says so."""
    problem = random_problem(seed, max_variables=5)
    enumerated = dabp.solve_several(problem, 3, distance=1 + seed % 2 * (problem.num_variables > 1), threads=1)
    solved = dabp.solve_several(
        problem,
        3,
        distance=1 + seed % 2 * (problem.num_variables > 1),
        threads=1,
        target=-np.inf * enumerated_sign(problem),
    )
    assert enumerated.proved
    assert solved.proved
    if seed % 2 == 0:
        assert [each.cost for each in solved] == pytest.approx([each.cost for each in enumerated], nan_ok=True)


def enumerated_sign(problem: Problem) -> float:
    """A target that no answer reaches is −∞ times this."""
    return -1.0 if problem.maximize else 1.0


def test_the_second_answer_is_not_far_from_the_first() -> None:
    """Without a proof it costs no more than the best neighbour of the first, which enumeration finds."""
    problem = dabp.generate("random-cop", variables=80, density=0.3, seed=3)
    first, second = dabp.solve_several(problem, 2, solver="annealing", max_iterations=2000, threads=1)
    rows = np.repeat(np.asarray(first.assignment)[None], 80 * 10, axis=0)
    rows[np.arange(800), np.arange(800) // 10] = np.arange(800) % 10
    costs = problem.cost(rows)
    assert second.cost <= costs[(rows != first.assignment).any(axis=1)].min()
    assert first.cost <= second.cost


def test_relaxed_answers_violate_as_little_as_possible() -> None:
    """Two variables of two values that must differ three ways: the cheapest violations in their order."""
    model = dabp.Model()
    model.add_variables(["x", "y", "z"], 2)
    for pair in (["x", "y"], ["y", "z"], ["x", "z"]):
        model.forbid(pair, lambda a, b: a == b, name="-".join(pair))
    answers = dabp.solve_several(model, 8, relax=True, threads=1)
    assert [len(each.violated or ()) for each in answers] == [1] * 6 + [3] * 2
    assert dabp.solve_several(model, 2, threads=1)[0].status.value == "INFEASIBLE"


def test_a_list_is_resumed(tmp_path: Path) -> None:
    """Each answer has a checkpoint of its own, and a resumed list is the same."""
    problem = dabp.generate("random-cop", variables=30, density=0.3, seed=3)
    options = {"solver": "annealing", "max_iterations": 300, "threads": 1, "checkpoint": str(tmp_path / "state")}
    costs = [each.cost for each in dabp.solve_several(problem, 2, **options)]
    assert sorted(path.name for path in tmp_path.iterdir() if "lock" not in path.name) == ["state.0", "state.1"]
    assert [each.cost for each in dabp.solve_several(problem, 2, resume=True, **options)] == costs


def test_a_list_is_a_frame() -> None:
    """A row per answer with its cost, status and values."""
    model = dabp.Model()
    model.add_variables(["x", "y"], ["a", "b"])
    model.add_cost(["x", "y"], [[0, 4], [7, 1]])
    table = dabp.solve_several(model, 3, threads=1).to_frame()
    assert table.cost.tolist() == [0.0, 1.0, 4.0]
    assert table.y.tolist() == ["a", "b", "b"]


def test_limits_are_those_of_one_solve() -> None:
    """A `Limits` object is accepted; a limit on iterations needs no time limit and applies to each answer."""
    problem = dabp.generate("random-cop", variables=12, density=0.5, seed=3)
    limits = dabp.Limits(iterations=7)
    results = dabp.solve_several(problem, 3, solver="dsa", limits=limits, presolve=False)
    assert max(result.iterations for result in results) == 7
    named = dabp.solve_several(problem, 3, solver="dsa", max_iterations=7, presolve=False)
    assert [result.cost for result in results] == [result.cost for result in named]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solutions": 0}, "solutions"),
        ({"solutions": 2, "distance": 9}, "differ in 9 variables"),
        ({"solutions": 2, "distance": 2, "among": ["x0", "x0"]}, "differ in 2 variables: 1 count"),
        ({"solutions": 2, "among": ["zz"]}, "zz"),
        ({"solutions": 2, "distnce": 2}, "no argument 'distnce'; did you mean 'distance'"),
        ({"solutions": 2, "limits": dabp.Limits(time=1), "time_limit": 1}, "time_limit and limits are both given"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(arguments: dict[str, object], message: str) -> None:
    """Before anything is solved."""
    with pytest.raises(dabp.DabpError, match=message):
        dabp.solve_several(Problem([2, 2]), **arguments)  # type: ignore[arg-type]


def test_an_interrupted_list_is_not_empty() -> None:
    """Also where the signal comes before anything is known."""

    def interrupt(progress: object) -> bool:
        return True

    problem = dabp.generate("random-cop", variables=60, density=0.4, seed=3)
    answers = dabp.solve_several(problem, 3, time_limit=10, threads=1, callbacks=[interrupt])
    assert [each.status.value for each in answers] == ["INTERRUPTED"]
    assert not answers.proved
    assert len(dabp.solve_several(problem, 3, time_limit=0.0)) == 1


def test_a_distance_on_a_long_chain_leaves_time_to_solve() -> None:
    """Enumeration alone would pass millions of answers that are too near."""
    rng = np.random.default_rng(0)
    problem = Problem.from_tables([3] * 60, [((i, i + 1), rng.random((3, 3))) for i in range(59)])
    first, second = dabp.solve_several(problem, 2, distance=20, time_limit=6, threads=1)
    assert first.status.value == "OPTIMAL"
    assert (first.assignment != second.assignment).sum() >= 20


@dataclass(frozen=True, kw_only=True)
class ProvesFirst(Solver):
    """Looks at all assignments, and has a bound only where no answer is excluded."""

    def start(
        self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None
    ) -> ProvesFirstSearch:
        return ProvesFirstSearch(problem)


class ProvesFirstSearch(Search):
    def __init__(self, problem: Problem):
        self.rows = np.array(list(itertools.product(*map(range, problem.domain_sizes.tolist()))))
        self.costs, self.bounded = np.asarray(problem.cost(self.rows)), problem.num_variables == 4

    def step(self) -> Step:
        best = int(np.argmin(self.costs))
        cost = float(self.costs[best])
        return Step(self.costs[best : best + 1], self.rows[best], cost, bound=cost if self.bounded else None)


def test_a_bound_of_an_answer_is_one_of_the_next() -> None:
    """More is excluded each time: of equal answers all are proved, a dearer one has a bound."""
    problem = Problem.from_tables([2] * 4, [((0, 1), [[3, 3], [9, 9]]), ((2, 3), [[0, 4], [6, 6]])])
    results = dabp.solve_several(problem, 3, solver=ProvesFirst(), max_iterations=2, presolve=False)  # type: ignore[arg-type]
    assert [result.cost for result in results] == greedy(problem, 3, 1, [0, 1, 2, 3]) == [3, 3, 7]
    assert [result.bound for result in results] == [3, 3, 3]
    assert [result.status.value for result in results] == ["OPTIMAL", "OPTIMAL", "LIMIT"]
