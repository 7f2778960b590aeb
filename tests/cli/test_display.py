"""What a person sees after a solve: names as they are, whatever Rich would make of them, and why it ended."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import sys
from pathlib import Path

import pytest

import dabp
from dabp.cli.display import print_comparison, print_summary, probability_text
from dabp.cli.evaluate import print_factors
from dabp.cli.info import describe, print_facts
from dabp.problem.interop import from_tables
from dabp.problem.shown import shown
from tests.cli.conftest import Run
from tests.cli.terminal import HARMFUL, NAMES, Terminal, named_file, named_problem

GOOD = Path(__file__).parents[1] / "data" / "good"


@pytest.mark.parametrize("name", NAMES)
def test_tables_show_names_as_they_are(run: Run, tmp_path: Path, name: str) -> None:
    """In the summary of one problem, the table of several and the table of an evaluation."""
    file, solution = named_file(tmp_path, name), tmp_path / "s.json"
    values = json.loads(run("solve", file, "-s", "bp", "-i", 5, "-o", solution, "--json").out)
    problem, (variable, label) = values["problem"], next(iter(values["assignment"].items()))
    assert name.strip("\\") in problem
    summary = run("solve", file, "-s", "bp", "-i", 5)
    assert f"{problem} (2 variables" in summary.out
    assert f"{variable}={label}" in summary.out
    assert run("solve", file, file, "-s", "bp", "-i", 5).out.count(f" {problem} ") == 2
    evaluation = run("evaluate", file, solution)
    assert evaluation.code == 0
    assert f" f{problem[1:]} " in evaluation.out
    assert f"{variable}={label}, b=" in evaluation.out


@pytest.mark.parametrize("name", HARMFUL)
def test_names_cannot_harm_a_terminal(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """What a terminal would obey is written out; nothing breaks a line or its direction."""
    problem = named_problem(name)
    result = dabp.solve(problem, "bp", max_iterations=5)
    print_summary(problem, result)
    print_comparison([(problem, result), (problem, result)])
    print_factors(problem.name, 1.0, 0, problem.explain(result.assignment))
    print_facts(describe(problem))
    lines = capsys.readouterr().out.splitlines()
    assert all(shown(line) == line for line in lines)
    assert sum(shown(f"p{name}") in line for line in lines) == 5
    assert sum(shown(f"f{name}") in line for line in lines) == 1


@pytest.mark.parametrize("name", HARMFUL)
def test_names_cannot_harm_in_complaints(run: Run, problem_file: Path, name: str) -> None:
    """One line, whatever was typed."""
    code, _, err = run("solve", problem_file, "-s", "bp", "--fix", f"{name}=1")
    assert (code, err.count("\n")) == (2, 1)
    assert shown(err[:-1]) == err[:-1]


def test_the_summary_says_which_limit_ended_it(run: Run, problem_file: Path) -> None:
    """In words for people, as a key in JSON, null if none did."""
    assert "LIMIT: the iteration limit was reached" in run("solve", problem_file, "-s", "dsa", "-i", 5).out
    assert json.loads(run("solve", problem_file, "-s", "dsa", "-i", 5, "--json").out)["limit"] == "iteration limit"
    assert json.loads(run("solve", problem_file, "-s", "mbe", "--json").out)["limit"] is None


@pytest.mark.parametrize(("factors", "words"), [("0 1, 1 2", "exact"), ("0 1, 1 2, 2 0", "approximate")])
def test_marginals_are_a_table_that_says_whether_it_is_exact(
    run: Run, tmp_path: Path, factors: str, words: str
) -> None:
    """A row for each variable with the probability of each value; with cycles a note says so, too."""
    scopes = [tuple(map(int, scope.split())) for scope in factors.split(", ")]
    dabp.write(from_tables([2] * 3, [(scope, [[0, 1], [1, 0.3]]) for scope in scopes]), tmp_path / "p.cfn")
    out = run("solve", tmp_path / "p.cfn", "-s", "bp", "-p", "temperature=1", "--time", 5).out
    lines = out.splitlines()
    place = lines.index(f"marginals       {words}")
    chances = lines[place + 1].split()[2::2]
    assert [float(chance) for chance in chances] == pytest.approx([0.5, 0.5], abs=0.2)
    assert len(lines) == place + 4
    assert ("beliefs are approximate" in out) == (words == "approximate")


def test_a_cut_is_called_a_cut(run: Run) -> None:
    """The summary and the JSON of a graph name the weight of the cut."""
    code, out, _ = run("solve", GOOD / "small.txt", "--solver", "toulbar2", "--quiet")
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines["cut"] == "1"
    assert "cost" not in lines
    assert json.loads(run("solve", GOOD / "small.txt", "--solver", "toulbar2", "--json").out)["cut"] == 1


def test_a_network_answers_with_a_probability(run: Run) -> None:
    """The logarithm and the probability of the best explanation, checked against the file's numbers."""
    options = ("--solver", "toulbar2", "--evidence", "smoke=yes")
    out = run("solve", GOOD / "cough.bif", *options, "--quiet").out
    best = 0.3 * 0.5 * 0.6  # smoke, no cold at all, no cough
    shown = next(line for line in out.splitlines() if line.startswith("ln probability"))
    assert float(shown.split()[2]) == pytest.approx(math.log(best))
    assert shown.endswith("(probability 0.09)")
    assert "per constraint" not in out
    assert json.loads(run("solve", GOOD / "cough.bif", *options, "--json").out)["log_probability"] == pytest.approx(
        math.log(best)
    )


def test_a_network_that_is_not_normalised_has_no_probability(run: Run, tmp_path: Path) -> None:
    """Potentials above 1, whose product no float64 holds: its logarithm, and no number called a probability."""
    file = tmp_path / "m.uai"
    file.write_text("MARKOV\n1\n2\n40\n" + "1 0\n" * 40 + "2 1e30 1e29\n" * 40)
    code, out, err = run("solve", file, "--solver", "icm", "--iterations", 2, "--quiet")
    assert (code, err) == (0, "")
    line = next(line for line in out.splitlines() if line.startswith("ln product"))
    assert float(line.split()[2]) == pytest.approx(40 * math.log(1e30))
    assert "(probability" not in out


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
    assert probability_text(cost) == text


def test_a_narrow_terminal_breaks_lines_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows is indented; the words are those of one long line, which a pipe gets."""
    problem = dabp.generate("random-cop", variables=30, domain=4, density=0.3, seed=1)
    result = dabp.solve(problem, "tabu", max_iterations=50)
    result = dataclasses.replace(result, notes=("a note of several words " * 6,))
    shown_lines = {}
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setenv("COLUMNS", "60")
        print_summary(problem, result)
        shown_lines[type(stream)] = stream.getvalue().splitlines()
    narrow, wide = shown_lines[Terminal], shown_lines[io.StringIO]
    assert max(map(len, narrow)) <= 60 < max(map(len, wide))
    assert " ".join(narrow).split() == " ".join(wide).split()
    assert narrow[-1].startswith(" " * 16)
    assert sum(not line.startswith(" ") for line in narrow) == sum(not line.startswith(" ") for line in wide)
