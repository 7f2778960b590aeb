"""Training: evolution lowers what it minimises, results are kept and taken up again, one fit joins them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.lab.policies import training as policy_training
from dabp.lab.policies.families import FAMILIES, random_pairs
from dabp.lab.policies.training import LENGTHS, START, Family, Training, fitted, results, text_of, train
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
    monkeypatch.setattr(policy_training, "COMPARED_LENGTHS", (20, 40))
    monkeypatch.setattr(policy_training, "COMPARED_ITERATIONS", 80)


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
    content = fitted(results(progress, QUICK), QUICK, "dabp train-policy x.json")
    path = tmp_path / "policy.json"
    path.write_text(text_of(content))
    assert Policy.read(path).weights.shape == (len(OUTPUTS), len(FEATURES))


@pytest.fixture
def lines(small, tmp_path):
    """A file with three results, and what is in them."""
    progress = tmp_path / "p.progress"
    list(train(QUICK, progress, (0, 2)))
    return progress, [json.loads(line) for line in progress.read_text().splitlines()]


@pytest.mark.parametrize(
    "change",
    [
        {"family": "none"},
        {"family": ["a"]},
        {"features": [1.0]},
        {"outputs": [1.0] * (len(OUTPUTS) - 1)},
        {"outputs": ["1"] * len(OUTPUTS)},
        {"outputs": [1e300] * len(OUTPUTS)},
        {"outputs": [float("nan")] * len(OUTPUTS)},
        {"best": 3.0},
        {"training": None},
        {"length": 0, "best": 0.0, "outputs": None},
        {"length": 0, "best": -1.0, "outputs": None},
        {"length": 0, "best": None, "outputs": None},
    ],
)
def test_results_that_no_fit_can_use_are_refused(lines, change):
    """Other families, too few numbers, lengths that have no logarithm: the line, and what to do."""
    progress, (one, *_) = lines
    wrong = {key: value for key, value in {**one, **change}.items() if value is not None or key == "training"}
    with progress.open("a") as file:
        file.write(json.dumps(wrong) + "\n")
    with pytest.raises(FormatError, match=r"p\.progress:4: this is no result .*take the line"):
        results(progress, QUICK)


@pytest.mark.parametrize(
    "foreign",
    [b"my notes\nmore notes\n", b"my notes", b'{"family": "a"', b"{}\n", b"[" * 10_000 + b"}\n", b"\0\xff\n"],
)
def test_what_is_no_file_of_results_stays_as_it_is(small, tmp_path, foreign):
    """Whoever's it is: refused and not written to."""
    progress = tmp_path / "p.progress"
    progress.write_bytes(foreign)
    before = progress.read_bytes()
    with pytest.raises(FormatError, match=r"p\.progress:1: this is no result"):
        list(train(QUICK, progress))
    assert progress.read_bytes() == before


@pytest.mark.parametrize("change", [{"instances": 3}, {"generations": 5}, {"population": 7}, {"seed": 1}])
def test_results_of_other_settings_are_not_taken_up(lines, change):
    """A policy comes from one training; the sentence names what differs."""
    name, value = next(iter(change.items()))
    with pytest.raises(FormatError, match=rf"p\.progress:1: .*{name} {getattr(QUICK, name)}, not {value}; "):
        list(train(replace(QUICK, **change), lines[0], (1, 2)))


@pytest.mark.parametrize("seed", [2**32 - 2, 2**32 - 1, 10**30])
def test_any_seed_will_do(small, tmp_path, seed):
    """Also one that is too large for CMA-ES; and the same gives the same."""
    training = Training(instances=1, generations=1, population=4, seed=seed)
    found = [list(train(training, tmp_path / name, (0, 2))) for name in "xy"]
    assert found[0] == found[1]


def test_a_result_counts_once(small, tmp_path):
    """Shares that did the same make the policy of one."""
    found = list(train(QUICK, tmp_path / "p.progress"))
    assert fitted([*found, *found[:2]], QUICK, "") == fitted(found, QUICK, "")


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
