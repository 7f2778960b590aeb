"""``dabp lab train-policy``: what it writes, in shares, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dabp.formats import write
from dabp.lab.policies import training as policy_training
from dabp.problem import Problem
from dabp.solvers.belief_propagation.policy import Policy
from tests.cli.conftest import Run


def ring(seed: int) -> Problem:
    """Milliseconds."""
    rng = np.random.default_rng(seed)
    return Problem.from_tables([3] * 9, [((i, (i + 1) % 9), rng.random((3, 3))) for i in range(9)])


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cma")
    monkeypatch.setattr(policy_training, "FAMILIES", {"a": ring, "b": ring})
    monkeypatch.setattr(policy_training, "LENGTHS", (20, 40))
    monkeypatch.setattr(policy_training, "COMPARED_LENGTHS", (20, 40))
    monkeypatch.setattr(policy_training, "COMPARED_ITERATIONS", 80)


@pytest.mark.usefixtures("_small")
def test_the_last_share_writes_the_policy(run: Run, tmp_path: Path) -> None:
    """With the command and the settings that made it."""
    output, small = tmp_path / "policy.json", ("--instances", 1, "--generations", 2, "--population", 4)
    code, _, err = run("lab", "train-policy", output, *small, "--share", "0/2")
    assert code == 0
    assert "other shares" in err
    assert not output.exists()
    code, _, _ = run("lab", "train-policy", output, *small, "--share", "1/2")
    assert code == 0
    recipe = json.loads(output.read_text())["recipe"]
    assert recipe["command"].startswith("dabp lab train-policy")
    assert recipe["training"]["generations"] == 2
    assert np.isfinite(Policy.read(output).weights).all()


@pytest.mark.usefixtures("_small")
def test_results_that_are_there_twice_are_not_all(run: Run, tmp_path: Path) -> None:
    """As many lines as there are tasks, of half of them: the other share is still to be done."""
    output, small = tmp_path / "policy.json", ("--instances", 1, "--generations", 2, "--population", 4)
    run("lab", "train-policy", output, *small, "--share", "0/2")
    progress = tmp_path / "policy.progress"
    progress.write_text(2 * progress.read_text())
    code, _, err = run("lab", "train-policy", output, *small, "--share", "0/2")
    assert (code, output.exists()) == (0, False)
    assert "3 results to come" in err


@pytest.mark.usefixtures("_small")
def test_the_solver_takes_what_is_written(run: Run, tmp_path: Path) -> None:
    """`--param policy=FILE`; what is not there is one sentence."""
    output, problem = tmp_path / "policy.json", tmp_path / "ring.wcsp"
    run("lab", "train-policy", output, "--instances", 1, "--generations", 1, "--population", 4)
    write(ring(1), problem)
    asked = ("solve", problem, "--solver", "bp-learned", "--iterations", 60, "--param")
    assert run(*asked, f"policy={output}")[0] == 0
    code, _, err = run(*asked, f"policy={tmp_path / 'none.json'}")
    assert code == 2
    assert "with a policy of bp-learned; `dabp lab train-policy" in err


def test_seeds_are_not_negative(run: Run, tmp_path: Path) -> None:
    """Told by the option, before any work."""
    code, _, err = run("lab", "train-policy", tmp_path / "policy.json", "--seed", -1)
    assert code == 2
    assert "--seed" in err


@pytest.mark.parametrize("share", ["2/2", "x", "1", "²/3", "0/0", "1/99999"])
def test_shares_are_checked(run: Run, tmp_path: Path, share: str) -> None:
    """One sentence."""
    code, _, err = run("lab", "train-policy", tmp_path / "policy.json", "--share", share)
    assert code == 2
    assert "--share" in err


def test_results_are_not_written_over_the_policy(run: Run, tmp_path: Path) -> None:
    """The file of results beside it has another name."""
    code, _, err = run("lab", "train-policy", tmp_path / "a.progress")
    assert code == 2
    assert "would both be written" in err
