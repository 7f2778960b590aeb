"""How answers are told."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dabp.cli.display import _probability
from tests.cli.conftest import Run

_GOOD = Path(__file__).parents[1] / "data" / "good"


def test_a_cut_is_called_a_cut(run: Run) -> None:
    """The summary and the JSON of a graph name the weight of the cut."""
    code, out, _ = run("solve", _GOOD / "small.txt", "--solver", "toulbar2", "--quiet")
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines["cut"] == "1"
    assert "cost" not in lines
    assert json.loads(run("solve", _GOOD / "small.txt", "--solver", "toulbar2", "--json").out)["cut"] == 1


def test_a_network_answers_with_a_probability(run: Run) -> None:
    """The logarithm and the probability of the best explanation, checked against the file's numbers."""
    options = ("--solver", "toulbar2", "--evidence", "smoke=yes")
    out = run("solve", _GOOD / "cough.bif", *options, "--quiet").out
    best = 0.3 * 0.5 * 0.6  # smoke, no cold at all, no cough
    shown = next(line for line in out.splitlines() if line.startswith("ln probability"))
    assert float(shown.split()[2]) == pytest.approx(math.log(best))
    assert shown.endswith("(probability 0.09)")
    assert "per constraint" not in out
    assert json.loads(run("solve", _GOOD / "cough.bif", *options, "--json").out)["log_probability"] == pytest.approx(
        math.log(best)
    )


def test_pydcop_layout(run: Run, tmp_path: Path) -> None:
    """``--format pydcop`` reads YAML and prints pyDCOP's object and nothing else."""
    path = tmp_path / "p.yaml"
    path.write_text(
        "domains: {d: {values: [a, b]}}\nvariables: {x: {domain: d, cost_function: 1 if x == 'a' else 2}}\n"
    )
    code, out, err = run("solve", path, "--format", "pydcop", "--solver", "dsa", "--iterations", 5)
    assert (code, err) == (0, "")
    assert json.loads(out)["assignment"] == {"x": "a"}
    assert out.startswith('{\n  "agt_metrics": {}')


@pytest.mark.parametrize(("cost", "text"), [(0.0, "1"), (math.log(4), "0.25"), (1000 * math.log(10), "1.000e-1000")])
def test_probabilities_of_any_size(cost: float, text: str) -> None:
    """Also those that are 0 as a float64."""
    assert _probability(cost) == text
