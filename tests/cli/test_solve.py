"""``dabp solve``: what it prints and writes, that answers survive what fails beside them, what is refused first."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dabp.cli.solve import seconds_left
from dabp.driver import solve as solving
from dabp.formats import read
from tests.cli.conftest import Run

KEYS = "problem solver status cost normalized_cost bound gap assignment iterations runtime seed"
QUICK = ("--solver", "bp", "--iterations", 5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two variables and one factor; the best assignment, 1 0, costs 2."""
    path = tmp_path / "two.wcsp"
    path.write_text("two 2 2 1 9\n2 2\n2 0 1 5 4\n0 0 7\n0 1 8\n1 0 2\n1 1 3\n")
    return path


@pytest.fixture
def solves(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the problems that were solved."""
    names: list[str] = []
    solve = solving.solve

    def noting(problem: Any, *arguments: Any, **keywords: Any) -> Any:
        names.append(problem.name)
        return solve(problem, *arguments, **keywords)

    monkeypatch.setattr(solving, "solve", noting)
    return names


def test_solve_prints_exactly_one_json_object(run: Run, problem_file: Path) -> None:
    """With --json standard output is one object with every promised key, and the cost is the assignment's."""
    code, out, err = run("solve", problem_file, "--solver", "bp", "--iterations", 50, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert set(facts) >= set(KEYS.split())
    problem = read(problem_file)
    assert facts["cost"] == problem.cost(problem.names.assignment(facts["assignment"]))
    assert facts["normalized_cost"] == facts["cost"] / problem.num_factors


def test_evidence_beside_a_model_is_mentioned(run: Run, tmp_path: Path) -> None:
    """Unless some is given; and what the reader doubts is one sentence with the file and its line."""
    path = tmp_path / "a.uai"
    path.write_text("MARKOV 1 2 1 1 0 2 0.25 0.75")
    evidence = tmp_path / "a.uai.evid"
    evidence.write_text("1 0 0")
    assert f"dabp: {evidence} is not used; --evidence {evidence}" in run("solve", path, *QUICK)[2]
    assert "not used" not in run("solve", path, "--evidence", evidence, *QUICK)[2]
    assert run("solve", path, *QUICK, "--json").err == ""
    network = tmp_path / "a.bif"
    network.write_text(
        "network n { }\nvariable a { type discrete [ 2 ] { t, f }; }\nprobability ( a ) { table 0.5 0.3; }\n"
    )
    assert run("info", network)[2] == f"dabp: {network}:3: the probabilities of 'a' add up to 0.8, not to 1\n"


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


def test_defaults_are_those_of_python(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not given on the command line is left to `dabp.solve`; a size of memory and its units are the same."""
    given: list[dict[str, Any]] = []
    solve = solving.solve

    def noting(*arguments: Any, **keywords: Any) -> Any:
        given.append(keywords)
        return solve(*arguments, **keywords)

    monkeypatch.setattr(solving, "solve", noting)
    assert run("solve", file).code == 0
    options = ("--threads", 2, "--memory-limit", "8GB", "--time-limit", 3, "--max-iterations", 2)
    answer = run("solve", file, "-s", "bp", *options, "--json", "--fix", "x0=1", "--param", "damping=0.5").out
    assert (given[1]["fix"], given[1]["params"]) == ({"x0": 1}, {"damping": "0.5"})
    assert json.loads(answer)["assignment"]["x0"] == 1
    names = ("threads", "memory_limit", "time_limit", "max_iterations", "presolve", "target")
    assert [given[0][name] for name in names] == [None] * 6
    assert [given[1][name] for name in names] == [2, "8GB", 3.0, 2, None, None]
    assert "500MB" in run("solve", file, "--memory", 500).err  # megabytes in earlier versions
    assert "'2 cups'" in run("solve", file, "--memory", "2 cups").err


def test_standard_input_and_several_files(run: Run, problem_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """- reads standard input with --format; several files give one table."""
    stream = io.TextIOWrapper(io.BytesIO(problem_file.read_bytes()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    assert json.loads(run("solve", "-", "--format", "xml", "-s", "bp", "-i", 5, "--json").out)["cost"] is not None
    out = run("solve", problem_file, problem_file, "--solver", "bp", "--iterations", 5).out
    assert out.count("graph-coloring-8-0") == 2


@pytest.mark.parametrize(
    ("option", "place", "reason"),
    [
        *(
            (option, *rest)
            for option in ("--output", "--trace", "--checkpoint")
            for rest in (("nowhere/x", "No such file or directory"), ("two.wcsp/x", "Not a directory"))
        ),
        ("--checkpoint", "folder", "Is a directory"),
    ],
)
def test_an_impossible_place_is_refused_before_solving(
    run: Run, file: Path, solves: list[str], option: str, place: str, reason: str
) -> None:
    """A solve may take hours; where its answer goes is looked at first."""
    (file.parent / "folder").mkdir()
    target = file.parent / place
    code, out, err = run("solve", file, *QUICK, option, target)
    assert (code, out, solves) == (2, "", [])
    assert err == f"dabp: {target}: it cannot be written ({reason})\n"


@pytest.mark.parametrize(
    ("closed", "mode", "options"),
    [
        ("x.json", os.W_OK, ["--output", "x.json"]),
        ("x.json", os.W_OK, ["--trace", "x.json"]),
        (".", os.W_OK, ["--output", "new.json"]),
        (".", os.W_OK, ["--checkpoint", "x.json"]),
        ("two.wcsp", os.R_OK, []),
    ],
)
def test_permissions_are_asked_for_before_solving(
    run: Run, file: Path, solves: list[str], monkeypatch: pytest.MonkeyPatch, closed: str, mode: int, options: list[str]
) -> None:
    """A file that is there must be writable itself, a new one's folder, and a checkpoint's, which is renamed."""
    monkeypatch.chdir(file.parent)
    Path("x.json").write_text("{}", encoding="utf-8")
    # Root may do everything, so the answer of the system is put in its mouth.
    monkeypatch.setattr(os, "access", lambda path, asked: not (asked & mode and str(path) == closed))
    code, out, err = run("solve", "two.wcsp", *QUICK, *options)
    assert (code, out, solves) == (2, "", [])
    assert "Permission denied" in err or "not permitted" in err


@pytest.mark.parametrize(
    ("last", "message"),
    [("nowhere.wcsp", "there is no such file"), ("..", "this is a folder")],
)
def test_all_files_are_looked_for_before_the_first_is_solved(
    run: Run, file: Path, solves: list[str], last: str, message: str
) -> None:
    """A mistyped last name is told at once."""
    code, out, err = run("solve", file, file, last, *QUICK)
    assert (code, out, solves) == (2, "", [])
    assert err.count("\n") == 1
    assert message in err


def test_answers_before_a_malformed_file_are_shown(run: Run, file: Path, solves: list[str]) -> None:
    """What only reading can tell comes after the answers of the files before it."""
    wrong = file.parent / "wrong.wcsp"
    wrong.write_text("wrong 2 2 1 9\n2 2\n2 0 1 5 4\n0 0\n")
    code, out, err = run("solve", file, file, wrong, *QUICK)
    assert (code, solves) == (2, ["two", "two"])
    assert out.count("two") == 2
    assert err.startswith(f"dabp: {wrong}")
    assert err.count("\n") == 1
    facts = json.loads(run("solve", file, wrong, *QUICK, "--json").out)
    assert [answer["cost"] for answer in facts["results"]] == [2]


@pytest.mark.parametrize("options", [["--output"], ["--trace"], ["--output", "--trace"]])
def test_the_answer_is_shown_when_writing_fails(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """A folder that vanishes during the solve costs the file, not the answer."""
    folder = file.parent / "folder"
    solve = solving.solve

    def vanishing(*arguments: Any, **keywords: Any) -> Any:
        result = solve(*arguments, **keywords)
        folder.rmdir()
        return result

    monkeypatch.setattr(solving, "solve", vanishing)
    words = [word for option in options for word in (option, folder / f"{option}.json")]
    for more in ([], ["--json"]):
        folder.mkdir()
        code, out, err = run("solve", file, *QUICK, *words, *more)
        assert code == 2
        assert err == f"dabp: {folder / options[0]}.json: it cannot be written (No such file or directory)\n"
        assert (json.loads(out)["cost"] == 2) if more else ("cost            2" in out)


def test_one_file_is_written_though_the_other_fails(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace that finds the disk full does not keep the solution from being written."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dabp.driver.trace.Trace.save", full)
    solution = file.parent / "x.sol"
    code, out, err = run("solve", file, *QUICK, "-o", solution, "--trace", file.parent / "t")
    assert (code, solution.read_text()) == (2, "1 0\n")
    assert "assignment" in out
    assert err == f"dabp: {file.parent / 't'}: it cannot be written (No space left on device)\n"


@pytest.mark.parametrize("suffix", ["sol", "MPE", "json"])
def test_an_infeasible_problem_is_an_answer_whatever_it_is_written_to(run: Run, tmp_path: Path, suffix: str) -> None:
    """Exit code 1 and the status; a file of values is not written, and a note says so; JSON is."""
    path, solution = tmp_path / "none.wcsp", tmp_path / f"x.{suffix}"
    path.write_text("none 1 2 1 5\n2\n1 0 0 2\n0 5\n1 5\n")
    code, out, err = run("solve", path, "--solver", "mbe", "--time", 20, "-o", solution)
    assert code == 1
    assert "INFEASIBLE" in out
    if suffix == "json":
        facts = json.loads(solution.read_text())
        assert (facts["status"], facts["cost"]) == ("INFEASIBLE", None)
        assert err == f"dabp: wrote {solution}\n"
    else:
        assert not solution.exists()
        assert err == f"dabp: {solution}: not written, there is no assignment to write (JSON can say so)\n"


def test_ctrl_c_prints_and_saves_the_incumbent(tmp_path: Path, run: Run) -> None:
    """SIGINT ends a running solve with exit code 0, the answer printed and saved."""
    path, solution = tmp_path / "p.xml", tmp_path / "s.json"
    run("generate", "random-cop", "--param", "variables=30", "-o", path)
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


def test_several_answers_and_traces_go_into_folders(run: Run, file: Path) -> None:
    """One of each per file, named after it; the folder is made, and one that is there takes a single answer, too."""
    other, folder = file.parent / "other.wcsp.gz", file.parent / "answers"
    other.write_bytes(gzip.compress(file.read_bytes()))
    traces = file.parent / "traces"
    assert run("solve", file, other, *QUICK, "-o", folder, "--trace", traces).code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["other.json", "two.json"]
    assert sorted(path.name for path in traces.iterdir()) == ["other.jsonl", "two.jsonl"]
    assert json.loads((folder / "two.json").read_text())["cost"] == 2
    (folder / "two.json").unlink()
    assert run("solve", file, *QUICK, "-o", folder).code == 0
    assert (folder / "two.json").exists()


def test_several_answers_are_numbered_and_one_json_object(run: Run, file: Path) -> None:
    """All four answers in order of cost, the fifth proved not to exist; in JSON as `dabp.solve_several` gives them."""
    output = file.parent / "x.json"
    code, out, _ = run("solve", file, "--solutions", 5, "--time", 60, "--output", output, "--quiet")
    words = [line.split(None, 1) for line in out.splitlines() if line]
    assert (code, [value for key, value in words if key == "answer"]) == (0, ["1", "2", "3", "4", "5"])
    assert [value for key, value in words if key == "cost"] == ["2", "3", "7", "8", "no feasible assignment found"]
    statuses = [value.partition(":")[0] for key, value in words if key == "status"]
    assert statuses == ["OPTIMAL"] * 4 + ["INFEASIBLE"]
    answers = json.loads(run("solve", file, "--solutions", 5, "--time", 60, "--json").out)["solutions"]
    assert [answer["cost"] for answer in answers] == [2, 3, 7, 8, None]
    written = json.loads(output.read_text())["solutions"]
    assert [answer["assignment"] for answer in written] == [answer["assignment"] for answer in answers]
    assert json.loads(run("evaluate", file, output, "--json").out)["cost"] == 2  # the first


def test_answers_keep_their_distance(run: Run, file: Path) -> None:
    """With --distance 2 the second answer differs in both variables; a single answer is the ordinary solve."""
    facts = json.loads(run("solve", file, "--solutions", 2, "--distance", 2, "--time", 60, "--json").out)
    assert [answer["assignment"] for answer in facts["solutions"]] == [{"x0": 1, "x1": 0}, {"x0": 0, "x1": 1}]
    single = run("solve", file, *QUICK, "--solutions", 1, "--output", file.parent / "x.sol", "--json").out
    assert json.loads(single)["cost"] == 2
    assert "differ in 3 variables: 2 count" in run("solve", file, "--solutions", 2, "--distance", 3).err


def test_several_answers_of_an_infeasible_problem(run: Run, tmp_path: Path) -> None:
    """Exit code 1: there is no answer at all, which the list says."""
    path = tmp_path / "none.wcsp"
    path.write_text("none 1 2 1 5\n2\n1 0 0 2\n0 5\n1 5\n")
    code, out, _ = run("solve", path, "--solutions", 2, "--time", 20, "--json")
    assert (code, [answer["status"] for answer in json.loads(out)["solutions"]]) == (1, ["INFEASIBLE"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--solutions", 2, "--checkpoint", "c"], "--checkpoint does not go with --solutions"),
        (["--solutions", 2, "--trace", "t"], "--trace does not go with --solutions"),
        (["--solutions", 2, "--relax"], "--relax does not go with --solutions"),
        (["--solutions", 2, "two.wcsp"], "--solutions goes with one file"),
        (["--solutions", 2, "--output", "x.sol"], "x.sol: several answers are written as .json"),
        (["--solutions", 2, "--output", "x.csv"], "x.csv: several answers are written as .json"),
        (["--solutions", 2, "--output", "x.MPE"], "x.MPE: several answers are written as .json"),
        (["--solutions", 2, "--format", "maxsat"], "--solutions does not go with --format maxsat"),
        (["--solutions", 0], "--solutions"),
        (["--distance", 2], "--distance goes with --solutions"),
    ],
)
def test_what_does_not_go_with_several_answers(
    run: Run, file: Path, solves: list[str], monkeypatch: pytest.MonkeyPatch, words: list[object], message: str
) -> None:
    """Each is one sentence before anything is solved."""
    monkeypatch.chdir(file.parent)
    code, out, err = run("solve", file, *words)
    assert (code, out, solves) == (2, "", [])
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.json.txt"])
def test_an_answer_of_unknown_form_is_refused_before_solving(
    run: Run, file: Path, solves: list[str], name: str
) -> None:
    """JSON under a spreadsheet's name would be found out after hours."""
    code, out, err = run("solve", file, *QUICK, "-o", file.parent / name)
    assert (code, out, solves) == (2, "", [])
    assert "ends in .json, .sol, .MPE or .csv" in err


def test_answers_that_would_overwrite_each_other_are_refused(run: Run, file: Path, solves: list[str]) -> None:
    """Two files of one name in different folders."""
    (file.parent / "more").mkdir()
    other = file.parent / "more" / "two.cfn"
    other.write_bytes(file.read_bytes())
    code, _, err = run("solve", file, other, *QUICK, "-o", file.parent / "answers")
    assert (code, solves) == (2, [])
    assert "2 files would be written to" in err
    assert not (file.parent / "answers").exists()


def test_a_fixed_name_is_looked_up_before_solving(run: Run, problem_file: Path) -> None:
    """A mistyped name suggests the nearest one, and two values for one variable are no answer."""
    assert "did you mean 'x1'" in run("solve", problem_file, *QUICK, "--fix", "X1=0").err
    assert "given twice" in run("solve", problem_file, *QUICK, "--fix", "x1=0", "--fix", "x1=1").err
    assert run("solve", problem_file, *QUICK, "--fix", "x1=0", "--fix", "x1=0").code == 0


@pytest.mark.parametrize("evidence", [["smoke=no"], ["smoke=no, cold=some"], ["smoke=no", "cold=some"], ["FILE"]])
def test_evidence_by_name(evidence: list[str], tmp_path: Path, run: Run) -> None:
    """What is observed is held, from the command line or a file, and the probability is told as such."""
    (tmp_path / "seen.txt").write_text("smoke = no\ncold = some\n")
    network = Path(__file__).parents[1] / "data" / "good" / "cough.bif"
    given = [word for one in evidence for word in ("--evidence", tmp_path / "seen.txt" if one == "FILE" else one)]
    code, out, _ = run("solve", network, *given, "--solver", "toulbar2", "--time", 5, "--json")
    answer = json.loads(out)
    assert (code, answer["assignment"]["smoke"]) == (0, "no")
    assert answer["log_probability"] == -answer["cost"]
    if len(evidence) > 1 or evidence != ["smoke=no"]:
        assert answer["assignment"] == {"smoke": "no", "cold": "some", "cough": "no"}
    for wrong in ("smoke=maybe", "wet=no"):
        assert run("solve", network, "--evidence", wrong).err.startswith(f"dabp: --evidence {wrong}: ")


def test_the_problem_is_not_lost_to_its_checkpoint(run: Run, file: Path) -> None:
    """Nor anything else that was there: one line, and the files are as they were."""
    content = file.read_bytes()
    refusals = {
        file: f"--checkpoint would replace '{file}', which is read",
        file.parent / "notes.txt": f"{file.parent / 'notes.txt'}: it is there already and is no checkpoint of dabp's",
    }
    for target, refusal in refusals.items():
        target.write_bytes(content)
        code, out, err = run("solve", file, *QUICK, "--checkpoint", target)
        assert (code, out, target.read_bytes()) == (2, "", content)
        assert err == f"dabp: {refusal}; choose another file\n"
    assert run("solve", file, *QUICK, "--checkpoint", file.parent / "c").code == 0
    again = run("solve", file, *QUICK, "--checkpoint", file.parent / "c")
    assert again.code == 2
    assert "there is a checkpoint already; continue it (resume) or remove it first" in again.err


SMALL_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
from dabp.__main__ import main
sys.argv = ["dabp", *sys.argv[1:]]
main()
"""


@pytest.mark.posix
def test_the_answer_survives_a_disk_that_is_nearly_full(run: Run, tmp_path: Path) -> None:
    """Seen through a limit on the size of files: the answer fits, trace and checkpoint do not, and both are told."""
    answer, trace, state = tmp_path / "a.json", tmp_path / "t.jsonl", tmp_path / "state"
    trace.write_text("the trace of yesterday")
    path = tmp_path / "p.xml"
    run("generate", "random-cop", "--param", "variables=12", "-o", path)
    command = ["solve", path, "--solver", "annealing", "--iterations", 2000, "-o", answer, "--trace", trace]
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, *map(str, command), "--checkpoint", str(state)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    warning, error = done.stderr.splitlines()
    assert warning == f"dabp: {state}: cannot write the checkpoint: File too large; the solve goes on without it"
    assert error == f"dabp: {trace}: it cannot be written (File too large)"
    problem = read(path)
    facts = json.loads(answer.read_text())
    assert facts["cost"] == problem.cost(problem.names.assignment(facts["assignment"]))
    assert trace.read_text() == "the trace of yesterday"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "p.xml", "t.jsonl"]


INTERRUPTED = """
import os, runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has commands in the background ignore it

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ.get("AT"):
            del os.environ["AT"]
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv[0] = "dabp"
runpy.run_module("dabp", run_name="__main__")
"""


@pytest.mark.parametrize(
    "module", ["typer", "dabp.cli.solve", "dabp.formats", "dabp.driver.live", "dabp.driver.solve", "numba"]
)
def test_an_interrupt_while_modules_are_loaded_is_no_traceback(problem_file: Path, module: str) -> None:
    """Before the problem is read it ends in one line; afterwards, whatever is being loaded, with the best so far."""
    command = ["solve", problem_file, "--solver", "dsa", "--time", 20, "--json"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *map(str, command)],
        env={**os.environ, "AT": module},
        capture_output=True,
        text=True,
        check=False,
    )
    if module in ("dabp.driver.live", "dabp.driver.solve", "numba"):
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["status"] == "INTERRUPTED"
        assert json.loads(done.stdout)["cost"] is not None
    else:
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr == "dabp: interrupted before it was done\n"


def test_reading_counts_in_the_time_limit() -> None:
    """What a slow file took is taken off, never more than half; without a limit, or where it is little, nothing."""
    assert seconds_left(10.0, 3.0) == 7.0
    assert seconds_left(10.0, 9.0) == 5.0
    assert seconds_left(10.0, 0.1) == 10.0
    assert seconds_left(None, 3.0) is None
    assert seconds_left(math.inf, 3.0) == math.inf
    assert seconds_left(-1.0, 3.0) == -1.0


def test_what_dabp_learned_is_written(run: Run, problem_file: Path, tmp_path: Path) -> None:
    """A row per iteration; other names and other solvers are refused before or in a sentence."""
    target = tmp_path / "learned.npz"
    options = ["--no-presolve", "--iterations", "25", "--record-learned", str(target)]
    assert run("solve", str(problem_file), "--solver", "dabp", *options).code == 0
    with np.load(target) as read:
        assert len(read["damping"]) == len(read["cost"]) > 1
    assert f"wrote {target}" in run("solve", str(problem_file), "--solver", "dabp", *options).err
    (single := tmp_path / "one.uai").write_text("MARKOV 1 2 1 1 0 2 0.5 0.25")
    alone = run("solve", single, "--solver", "dabp", "--presolve", "--record-learned", tmp_path / "none.npz")
    assert "nothing to write" in alone.err
    assert not (tmp_path / "none.npz").exists()
    wrong = run("solve", str(problem_file), "--record-learned", "learned.txt")
    assert wrong.code == 2
    assert ".npz" in wrong.out + wrong.err
