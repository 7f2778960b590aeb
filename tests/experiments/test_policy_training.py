"""Training: evolution lowers what it minimises, results are kept and taken up again, one fit joins them."""

import json

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.experiments import policy_training
from dabp.experiments.policy_families import FAMILIES, random_pairs
from dabp.experiments.policy_training import LENGTHS, START, Family, Training, fitted, results, text_of, train
from dabp.problem import Problem
from dabp.solvers.belief_propagation.policy import FEATURES, OUTPUTS, Policy

QUICK = Training(instances=2, generations=4, population=6)


def colouring(seed: int) -> Problem:
    """Small, and sensitive to damping."""
    rng = np.random.default_rng(seed)
    edges = random_pairs(rng, 40, 8)
    return Problem.from_tables([4] * 40, [(tuple(edge), rng.integers(1, 99) * np.eye(4)) for edge in edges.tolist()])


@pytest.fixture
def small(monkeypatch):
    """Two families that take milliseconds."""
    pytest.importorskip("cma")
    monkeypatch.setattr(policy_training, "FAMILIES", {"a": colouring, "b": lambda seed: colouring(seed + 100)})
    monkeypatch.setattr(policy_training, "LENGTHS", (20, 40))
    monkeypatch.setattr(policy_training, "CANDIDATES", (20, 40))
    monkeypatch.setattr(policy_training, "TOTAL", 80)


def test_evolution_finds_better_schedules(small, monkeypatch):
    """From a start that is far off (so hot that all values are alike) the loss falls."""
    hot = START.copy()
    hot[:2] = np.log([1.5, 1.5])
    monkeypatch.setattr(policy_training, "START", hot)
    evolved = Family("a", Training(instances=3, generations=8, population=8)).evolved(40, hot, 8)
    assert evolved["curve"][-1] < min(0.0, evolved["curve"][0])


def test_training_is_resumed_and_shared(small, tmp_path):
    """Two shares make the whole; what is done is not done again; the file is a policy."""
    progress = tmp_path / "p.progress"
    assert len(list(train(QUICK, progress, (0, 2)))) == 3
    assert len(list(train(QUICK, progress, (0, 2)))) == 0
    assert len(list(train(QUICK, progress, (1, 2)))) == 3
    content = fitted(results(progress), QUICK, "dabp train-policy x.json")
    path = tmp_path / "policy.json"
    path.write_text(text_of(content))
    assert Policy.read(path).weights.shape == (len(OUTPUTS), len(FEATURES))


def test_what_a_kill_left_unfinished_is_done_again(small, tmp_path):
    """Half a line is no result, and the next one begins a line of its own; what is something else is refused."""
    progress = tmp_path / "p.progress"
    first, second, *_ = train(QUICK, progress, (0, 2))
    whole = progress.read_bytes()
    lines = whole.splitlines(keepends=True)
    progress.write_bytes(lines[0] + lines[1][: len(lines[1]) // 2])
    assert [one["length"] for one in results(progress)] == [first["length"]]
    assert [one.get("length", 0) for one in train(QUICK, progress, (0, 2))] == [second["length"], 0]
    assert results(progress) == [json.loads(line) for line in lines]
    for wrong in (b'{"family": "a"}', b'{"family": "none", "features": []}', b"[" * 10_000 + b"}", b"{}"):
        progress.write_bytes(whole + wrong + b"\n")
        with pytest.raises(FormatError, match=r"p\.progress:4: this is no result"):
            results(progress)


def test_the_fit_follows_the_features():
    """Where the best damping is a linear function of a feature, so is the policy's, between the ends."""
    found = []
    for number, name in enumerate(FAMILIES):
        features = np.zeros(len(FEATURES))
        features[0], features[6] = 1.0, number / 6 - 1
        outputs = START.copy()
        outputs[4] = 2 * features[6]
        one = {"family": name, "features": features.tolist(), "outputs": outputs.tolist()}
        found += [{**one, "length": length} for length in LENGTHS]
        found.append({"family": name, "features": features.tolist(), "best": 500.0})
    weights = np.array(fitted(found, Training(), "")["weights"])
    assert weights[4, 6] == pytest.approx(2.0, rel=0.1)
    assert weights[0, 0] == pytest.approx(START[0], abs=1e-3)
    assert weights[-1, 0] == pytest.approx(np.log(500), abs=1e-3)


def test_there_are_families_for_it():
    """As many as the recipe says."""
    assert len(FAMILIES) == 12
