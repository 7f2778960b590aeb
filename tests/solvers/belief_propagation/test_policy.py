"""The policy: features do not depend on units of cost, outputs are sensible schedules, files are checked."""

import json

import numpy as np
import pytest

import dabp
from dabp.errors import FormatError
from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.solvers.belief_propagation import policy
from dabp.solvers.belief_propagation.policy import (
    FEATURES,
    LARGEST_FILE,
    OUTPUTS,
    Policy,
    damping_by_degree,
    features_of,
    loops_of,
    schedule_of,
)
from tests.problems import random_problem


def graph_of(problem: Problem) -> FactorGraph:
    """As bp-learned makes it."""
    return FactorGraph.from_problem(problem, dtype=np.float32)


def test_features_know_the_kind_and_not_the_units():
    """The same problem in other units, and with constants on its factors, has the same features."""
    problem = dabp.generate("random-cop", variables=40, domain=6, density=0.2, seed=1)
    other = problem.replace(pool=1000 * problem.pool + 12_345)
    np.testing.assert_allclose(features_of(graph_of(problem)), features_of(graph_of(other)), atol=1e-3)


def test_features_tell_colouring_from_random_costs():
    """By how many cells of a table are its least: all but the diagonal, or hardly any; and forbidden ones count."""
    least, forbidden = FEATURES.index("least"), FEATURES.index("forbidden")
    random = dabp.generate("random-cop", variables=40, domain=5, density=0.2, seed=1)
    colouring = dabp.generate("graph-coloring", variables=40, domain=5, density=0.2, seed=1)
    assert features_of(graph_of(colouring))[least] == pytest.approx(0.8, abs=0.01)
    assert features_of(graph_of(random))[least] < 0.15
    barred = random.replace(pool=np.where(random.pool > 79, np.inf, random.pool))
    assert features_of(graph_of(barred))[forbidden] == pytest.approx(np.isinf(barred.pool).mean(), abs=0.01)


def square_grid(side: int) -> Problem:
    """One table on every pair of neighbours."""
    place = np.arange(side * side).reshape(side, side)
    across = np.stack([place[:, 1:].ravel(), place[:, :-1].ravel()], axis=1)
    down = np.stack([place[1:].ravel(), place[:-1].ravel()], axis=1)
    return Problem.from_tables([3] * side**2, [(tuple(pair), np.eye(3)) for pair in [*across.tolist(), *down.tolist()]])


def test_short_loops_are_counted():
    """Of 4 · 3³ walks on a grid eight end where they began; on a path none, round a triangle all."""
    assert loops_of(graph_of(square_grid(60))) == pytest.approx(8 / 108, abs=0.012)
    path = Problem.from_tables([2] * 9, [((i, i + 1), np.eye(2)) for i in range(8)])
    assert loops_of(graph_of(path)) == 0
    triangle = Problem.from_tables([2] * 3, [((i, (i + 1) % 3), np.eye(2)) for i in range(3)])
    assert loops_of(graph_of(triangle)) == 1
    triple = np.zeros((2, 2, 2))
    wide = Problem.from_tables([2] * 7, [((0, 1, 2), triple), ((2, 3), np.eye(2)), ((4, 5, 6), triple)])
    assert loops_of(graph_of(wide)) == 0


def test_every_kind_of_problem_gets_a_schedule():
    """Whatever the instance, numbers are finite and in their ranges."""
    for seed in range(60):
        problem = minimized(random_problem(seed))
        graph = graph_of(problem)
        features = features_of(graph)
        assert np.isfinite(features).all()
        outputs = Policy.shipped().outputs(features)
        schedule = schedule_of(outputs, graph.num_edges / graph.num_variables, 100)
        assert 0 < schedule.beta.start <= schedule.beta.end < np.inf
        assert 0 < schedule.gain.end < 1
        assert 0 <= schedule.damping < 0.95
        damping = damping_by_degree(outputs, graph)
        assert damping.shape == (graph.num_edges,)
        assert ((damping > 0) & (damping < 0.95)).all()


def test_damping_by_degree_is_the_same_where_degrees_are():
    """And follows the sign of its output where they are not."""
    star = Problem.from_tables([3] * 6, [((0, i), np.eye(3)) for i in range(1, 6)])
    graph = graph_of(star)
    outputs = np.zeros(len(OUTPUTS))
    assert np.ptp(damping_by_degree(outputs, graph)) == 0
    outputs[OUTPUTS.index("damping by degree")] = 0.5
    damping = damping_by_degree(outputs, graph)
    assert damping[graph.edge_variable == 0].min() > damping[graph.edge_variable != 0].max()


@pytest.mark.parametrize(
    "spoil", ["weights", "outputs", "text", "nan", "huge", "too large", "deep", "bytes", "absent", "long", "nul"]
)
def test_what_is_no_policy_is_refused(spoil, tmp_path):
    """Other outputs, other shapes, numbers that are none, no JSON."""
    content = {
        "outputs": list(OUTPUTS),
        "features": list(FEATURES),
        "weights": np.zeros((len(OUTPUTS), len(FEATURES))).tolist(),
    }
    if spoil == "weights":
        content["weights"] = [[1.0]]
    elif spoil == "outputs":
        content["outputs"] = ["temperature"]
    elif spoil == "nan":
        content["weights"][0][0] = float("nan")
    elif spoil in ("huge", "too large"):
        content["weights"][0][0] = 10**400 if spoil == "huge" else 1e300
    path = tmp_path / "policy.json"
    path.write_text({"text": "no", "deep": "[" * 100_000}.get(spoil, json.dumps(content)))
    if spoil == "bytes":
        path.write_bytes(b"\xff\xfe{}")
    elif spoil == "absent":
        path.unlink()
    elif spoil == "long":
        path.write_text(path.read_text() + " " * LARGEST_FILE)
    elif spoil == "nul":
        path = tmp_path / "policy\0.json"
    with pytest.raises(FormatError, match="policy"):
        Policy.read(path)


def test_the_shipped_policy_says_where_it_comes_from():
    """Its recipe names the command, the families, and what was held out."""
    from importlib import resources

    content = json.loads((resources.files("dabp.solvers.belief_propagation") / "policy.json").read_text("utf-8"))
    assert content["recipe"]["command"].startswith("dabp train-policy")
    assert set(content["recipe"]["held out"]) == {"small-world", "ising"}
    assert len(content["recipe"]["families"]) >= 10


def test_features_of_large_tables_come_from_some_of_them(monkeypatch):
    """Ten of 200 tables tell about the same as all; a table that is larger than what is looked at is looked at."""
    problem = dabp.generate("random-cop", variables=40, domain=20, density=0.25, seed=1)
    whole = features_of(graph_of(problem))
    for cells in (4000, 10):
        monkeypatch.setattr(policy, "SAMPLED_CELLS", cells)
        some = features_of(graph_of(problem))
        assert not np.array_equal(some, whole)
        np.testing.assert_allclose(some, whole, atol=0.05)
