"""bp-learned: near the optimum of small problems, the switches switch, the same run whatever threads and blocks."""

import json
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.errors import CheckpointError, FormatError, ParameterError
from dabp.problem import Problem
from dabp.solvers.belief_propagation import engine
from dabp.solvers.belief_propagation.policy import FEATURES, OUTPUTS, Policy
from tests.problems import exhaustive_optimum, random_problem


def test_small_problems_are_solved():
    """Within 300 iterations nine in ten random problems of mixed kinds reach the optimum by exhaustive search."""
    reached = 0
    for seed in range(40):
        problem = random_problem(seed)
        optimum = exhaustive_optimum(problem)
        result = dabp.solve(problem, "bp-learned", max_iterations=300, seed=1)
        reached += result.cost == pytest.approx(optimum) if optimum is not None else result.cost is None
    assert reached >= 36


def test_threads_change_nothing(monkeypatch):
    """The same costs, iteration by iteration."""
    monkeypatch.setattr(engine, "WORTH_THREADS", 0)
    problem = dabp.generate("scale-free", variables=30, domain=6, seed=2)
    runs = [dabp.solve(problem, "bp-learned", max_iterations=200, seed=4, threads=threads) for threads in (1, 2)]
    assert np.array_equal(runs[0].trace.iteration_costs, runs[1].trace.iteration_costs)


@pytest.mark.parametrize(
    "switch",
    [
        {"temperature": False},
        {"pretrained": False},
        {"online": False},
        {"min_sum": False},
        {"consensus": 0.0},
        {"per_variable": False},
        {"local_search": False},
    ],
)
def test_each_switch_changes_the_run(switch):
    """Ablations run, and differ from the whole."""
    problem = dabp.generate("scale-free", variables=40, domain=8, m0=4, m1=4, seed=3)
    params = {"iterations": 40}
    whole = dabp.solve(problem, "bp-learned", params=params, max_iterations=400, seed=1)
    without = dabp.solve(problem, "bp-learned", params={**params, **switch}, max_iterations=400, seed=1)
    assert not np.array_equal(whole.trace.iteration_costs, without.trace.iteration_costs)
    assert without.cost is not None


def test_records_tell_what_was_chosen():
    """Each run's kind, schedule and cost, as long as the iterations that were asked for; β rises in soft ones."""
    problem = dabp.generate("random-cop", variables=20, domain=5, density=0.3, seed=1)
    result = dabp.solve(problem, "bp-learned", params={"restarts": 6, "iterations": 50})
    assert [record["restart"] for record in result.trace.records] == [0, 1, 2, 3, 4, 5]
    assert [record["kind"] for record in result.trace.records[:1]] == ["soft"]
    assert {record["kind"] for record in result.trace.records} == {"soft", "min-sum", "pulled"}
    assert result.trace.records[0]["sweeps"] == 2000
    assert all("sweeps" not in record for record in result.trace.records if record["kind"] == "pulled")
    assert all(record["iterations"] == 50 for record in result.trace.records)
    assert all(r["beta_start"] <= r["beta_end"] for r in result.trace.records if r["kind"] == "soft")
    assert min(record["cost"] for record in result.trace.records) == result.cost
    assert result.iterations == 300


def test_answers_of_runs_are_polished():
    """No single change improves the answer after one short run, cooled or not; without polishing some does."""
    better = []
    for polish, local_search in ((True, True), (True, False), (False, False)):
        count = 0
        for seed in range(10):
            problem = dabp.generate("graph-coloring", variables=60, domain=3, density=0.2, seed=seed)
            params = {"restarts": 1, "iterations": 12, "polish": polish, "local_search": local_search}
            result = dabp.solve(problem, "bp-learned", params=params, presolve=False)
            for variable in range(60):
                for value in range(3):
                    other = result.assignment.copy()
                    other[variable] = value
                    count += problem.cost(other) < result.cost - 1e-9
        better.append(count)
    assert better[:2] == [0, 0]
    assert better[2] > 0


@pytest.mark.parametrize("params", [{"restarts": 0}, {"iterations": 0}, {"consensus": -1.0}])
def test_parameters_are_checked(params):
    """One sentence that names the parameter."""
    with pytest.raises(ParameterError, match=next(iter(params))):
        dabp.solve(random_problem(0), "bp-learned", params=params)


def written(path: Path, policy: Policy) -> str:
    """A policy's file."""
    content = {"outputs": OUTPUTS, "features": FEATURES, "weights": policy.weights.tolist()}
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_a_policy_is_taken_from_its_file(tmp_path):
    """Runs are those of the policy that it holds: the neutral one's are those without pretraining."""
    problem = dabp.generate("random-cop", variables=20, domain=5, density=0.3, seed=1)

    def costs(**params: object) -> np.ndarray:
        return dabp.solve(problem, "bp-learned", params=params, max_iterations=120, seed=2).trace.iteration_costs

    neutral = costs(policy=written(tmp_path / "neutral.json", Policy.neutral()))
    assert np.array_equal(neutral, costs(pretrained=False))
    assert not np.array_equal(neutral, costs())


def test_a_wrong_policy_is_refused(tmp_path):
    """On a problem that needs none, too; and a policy beside none at all."""
    path = tmp_path / "policy.json"
    forest = Problem.from_tables([2, 2], [((0, 1), np.eye(2))])
    with pytest.raises(FormatError, match=r"no file .*with a policy"):
        dabp.solve(forest, "bp-learned", params={"policy": str(path)})
    path.write_text("{}")
    with pytest.raises(FormatError, match="not a policy"):
        dabp.solve(forest, "bp-learned", params={"policy": str(path)})
    with pytest.raises(ParameterError, match="pretrained=False"):
        dabp.solve(forest, "bp-learned", params={"policy": written(path, Policy.shipped()), "pretrained": False})


def test_a_checkpoint_belongs_to_the_weights_of_its_policy(tmp_path):
    """It goes on with the same file, and not when that holds another policy by now."""
    problem = dabp.generate("random-cop", variables=20, domain=5, density=0.3, seed=1)
    path = tmp_path / "policy.json"
    options = {"params": {"policy": written(path, Policy.shipped())}, "checkpoint": tmp_path / "c"}
    dabp.solve(problem, "bp-learned", max_iterations=100, **options)
    assert dabp.solve(problem, "bp-learned", max_iterations=150, resume=True, **options).iterations == 150
    written(path, Policy.neutral())
    with pytest.raises(CheckpointError, match="policy has other weights"):
        dabp.solve(problem, "bp-learned", max_iterations=200, resume=True, **options)
