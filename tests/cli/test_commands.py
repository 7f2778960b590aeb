"""The command line: what each command prints, and how it ends."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dabp.cli.options import available_cores
from dabp.driver import solve as solving
from dabp.formats import read
from tests.cli.conftest import Run

KEYS = "problem solver status cost normalized_cost bound gap assignment iterations runtime seed"


def test_solve_prints_exactly_one_json_object(run: Run, problem_file: Path) -> None:
    """With --json standard output is one object with every promised key, and the cost is the assignment's."""
    code, out, err = run("solve", problem_file, "--solver", "bp", "--iterations", 50, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert set(facts) >= set(KEYS.split())
    problem = read(problem_file)
    assert facts["cost"] == problem.cost(problem.assignment(facts["assignment"]))
    assert facts["normalized_cost"] == facts["cost"] / problem.num_factors


def test_solve_prints_a_summary_and_writes_files(run: Run, problem_file: Path, tmp_path: Path) -> None:
    """The summary is for people; solution and trace files can be used again."""
    solution, trace = tmp_path / "s.json", tmp_path / "t.jsonl"
    options = ["--solver", "bp", "--iterations", 50, "--output", solution, "--trace", trace]
    code, out, _ = run("solve", problem_file, *options)
    assert code == 0
    assert "status" in out
    assert "assignment" in out
    cost = json.loads(solution.read_text())["cost"]
    assert json.loads(trace.read_text().splitlines()[0])["type"] == "block"
    again = run("solve", problem_file, "--solver", "bp", "--iterations", 1, "--initial", solution, "--json")
    assert json.loads(again.out)["cost"] <= cost
    evaluated = run("evaluate", problem_file, solution, "--json")
    assert json.loads(evaluated.out)["cost"] == cost
    assert "violated" in run("evaluate", problem_file, solution, "--top", 2).out


def test_fixed_variables_and_parameters(run: Run, problem_file: Path) -> None:
    """--fix and --param reach the solver."""
    options = ["--solver", "bp", "--iterations", 20, "--json", "--fix", "x0=2", "--param", "damping=0.5"]
    assert json.loads(run("solve", problem_file, *options).out)["assignment"]["x0"] == 2


@pytest.mark.parametrize(
    ("options", "threads"),
    [(["auto"], available_cores()), (["auto", "--threads", 1], 1), (["tabu"], 1), (["tabu", "--threads", 2], 2)],
)
def test_auto_takes_all_cores_unless_told(
    run: Run, problem_file: Path, monkeypatch: pytest.MonkeyPatch, options: list[object], threads: int
) -> None:
    """What a solve may use, by solver and option."""
    given: list[int] = []
    solve = solving.solve

    def noting(*arguments: Any, **keywords: Any) -> Any:
        given.append(keywords["threads"])
        return solve(*arguments, **keywords)

    monkeypatch.setattr(solving, "solve", noting)
    assert run("solve", problem_file, "--time", 0.2, "--solver", *options).code == 0
    assert given == [threads]


def test_standard_input_and_several_files(run: Run, problem_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """- reads standard input with --format; several files give one table."""
    stream = io.TextIOWrapper(io.BytesIO(problem_file.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert json.loads(run("solve", "-", "--format", "xml", "-s", "bp", "-i", 5, "--json").out)["cost"] is not None
    out = run("solve", problem_file, problem_file, "--solver", "bp", "--iterations", 5).out
    assert out.count("graph-coloring-8-0") == 2


def test_no_feasible_assignment_is_exit_code_1(run: Run, tmp_path: Path) -> None:
    """A problem without a feasible assignment gives null and exit code 1."""
    path = tmp_path / "infeasible.wcsp"
    path.write_text("none 1 2 1 5\n2\n1 0 0 2\n0 5\n1 5\n")
    code, out, _ = run("solve", path, "--solver", "bp", "--json", "--iterations", 5)
    assert code == 1
    assert json.loads(out)["cost"] is None


def test_convert_info_and_generate(run: Run, problem_file: Path, tmp_path: Path) -> None:
    """A converted file is the same problem; info counts what is in it."""
    target = tmp_path / "p.wcsp"
    assert run("convert", problem_file, target).code == 0
    facts = json.loads(run("info", target, "--json").out)
    assert (facts["variables"], facts["factors"]) == (8, read(problem_file).num_factors)
    assert "8 of size 3" in run("info", problem_file).out
    assert run("generate", "scale-free", "-n", 4, "-d", 2).out.startswith("<")


def test_solvers_and_version(run: Run) -> None:
    """The list names every solver; a page shows parameters with the preset's defaults."""
    assert "dbp-scfg" in run("solvers").out
    assert "0.95" in run("solvers", "dbp-scfg").out
    assert run("--version").out.startswith("dabp ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "Missing argument"),
        (["slove", "x"], "Did you mean 'solve'"),
        (["solve", "nowhere.xml"], "nowhere.xml"),
        (["solve", "FILE", "--solver", "dpb"], "did you mean 'dbp'"),
        (["solve", "FILE", "--solver", "bp", "--param", "dampin=1"], "did you mean 'damping'"),
        (["solve", "FILE", "--solver", "bp", "--param", "damping"], "name=value"),
        (["solve", "FILE", "--solver", "bp", "--param", "damping=lots"], "not 'lots'"),
        (["solve", "FILE", "--fix", "zz=1"], "no variable 'zz'"),
        (["solve", "FILE", "--time", "-3"], "time limit"),
        (["solve", "FILE", "--time", "soon"], "valid number"),
        (["solve", "FILE", "FILE", "--output", "x.json"], "one file"),
        (["solve", "FILE", "--initial", "nowhere.json"], "nowhere.json"),
        (["solve", "FILE", "--solver", "bp", "--resume"], "checkpoint"),
        (["info", "FILE", "--format", "xlm"], "xlm"),
        (["convert", "FILE", "x.unknown"], "format"),
        (["generate", "random-cob"], "did you mean 'random-cop'"),
        (["solvers", "bb"], "did you mean 'bp'"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    run: Run, problem_file: Path, arguments: list[str], message: str
) -> None:
    """Never a traceback: one line on standard error that says what to do."""
    code, out, err = run(*[problem_file if word == "FILE" else word for word in arguments])
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("dabp: ")
    assert message in err


@pytest.mark.parametrize("arguments", [["--help"], ["info", "FILE"], ["solvers"]])
def test_light_commands_import_nothing_heavy(problem_file: Path, arguments: list[str]) -> None:
    """Help and info answer without loading torch or numba."""
    words = [str(problem_file) if word == "FILE" else word for word in arguments]
    script = (
        f"import sys; sys.argv = ['dabp', *{words!r}]\n"
        "from dabp.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numba', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_ctrl_c_prints_and_saves_the_incumbent(tmp_path: Path, run: Run) -> None:
    """SIGINT ends a running solve with exit code 0, the answer printed and saved."""
    path, solution = tmp_path / "p.xml", tmp_path / "s.json"
    run("generate", "random-cop", "--variables", 30, "-o", path)
    command = [sys.executable, "-m", "dabp", "solve", path, "--solver", "dbp-scfg", "--output", solution, "--json"]
    state = tmp_path / "state"  # first written when the solve is well under way
    more = ["--param", "restarts=100000", "--time", "100", "--checkpoint", str(state)]
    child = subprocess.Popen([*map(str, command), *more], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 90
    while not state.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert child.returncode == 0
    assert json.loads(out)["status"] == "INTERRUPTED"
    assert json.loads(solution.read_text())["cost"] == json.loads(out)["cost"]
