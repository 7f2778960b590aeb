"""``dabp lab experiment`` from the command line."""

from __future__ import annotations

import shutil

import pytest
from typer.testing import CliRunner

from dabp.cli.experiment import app, progress_bar
from dabp.lab.experiments.run_plan import Progress as State
from tests.cli.terminal import NAMES, terminal
from tests.lab.experiments.small import SMALL

runner = CliRunner()


def call(*arguments):
    result = runner.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_commands_read_a_folder_and_a_packed_file(results, tmp_path):
    """table, plot, report and compare do the same from both."""
    call("pack", results.path, "-o", tmp_path / "all.jsonl.xz")
    packed = tmp_path / "all.jsonl.xz"
    assert call("table", results.path) == call("table", packed, "--plan", "small")
    call("table", packed, "-f", "latex", "-o", tmp_path / "table.tex")
    assert "\\toprule" in (tmp_path / "table.tex").read_text()
    call("plot", packed, "--figure", "memory", "-o", tmp_path / "memory.png")
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")
    assert "cost-iterations" in call("plot", packed, "--figure", "list")
    call("report", packed, "-o", tmp_path / "report.html")
    assert "Wilcoxon" in call("compare", packed, "short", "long (steps=10)")


def test_unpacked_results_say_the_same(results, run, tmp_path):
    """A folder made of a packed file is a folder of results; a folder itself has nothing to unpack."""
    call("pack", results.path, "-o", tmp_path / "all.jsonl.xz")
    call("unpack", tmp_path / "all.jsonl.xz", "-o", tmp_path / "again")
    assert call("table", tmp_path / "again") == call("table", results.path)
    code, _, err = run("lab", "experiment", "unpack", results.path, "-o", tmp_path / "third")
    assert (code, "is a folder already" in err, (tmp_path / "third").exists()) == (2, True, False)


@pytest.mark.parametrize("command", ["table", "plot", "report", "pack"])
def test_packed_results_are_not_replaced_by_what_is_made_of_them(results, run, tmp_path, command):
    """By none of the commands that read and write: all runs would be lost."""
    packed = tmp_path / "all.jsonl.xz"
    call("pack", results.path, "-o", packed)
    before = packed.read_bytes()
    options = ["--figure", "memory"] if command == "plot" else []
    code, _, err = run("lab", "experiment", command, packed, *options, "-o", packed)
    assert (code, packed.read_bytes()) == (2, before)
    assert "choose another file" in err


PLAN = """
[[instances]]
family = "random-cop"
parameters = {{ variables = 5, domain = 2 }}
[[solvers]]
solver = "{solver}"
"""


def plan_of(folder, solver):
    path = folder / "plan.toml"
    path.write_text(PLAN.format(solver=solver))
    return path


OWN = """
from dataclasses import dataclass
from faults import Fault

@dataclass(frozen=True, kw_only=True)
class Broken(Fault):
    how: str = "raise"
"""


def test_failed_runs_give_a_nonzero_exit_code(run, tmp_path):
    """Counts and the last failure's reason, also on a second call; a solver's module is found beside the plan."""
    (tmp_path / "mine_beside.py").write_text(OWN)
    plan = plan_of(tmp_path, "mine_beside:Broken")
    code, out, err = run("lab", "experiment", "run", plan, "-o", tmp_path / "out", "--trust", "mine_beside")
    assert (code, "1 run, 0 already there, 1 failed, of 1" in out, "broken on purpose" in err) == (1, True, True)
    code, out, _ = run("lab", "experiment", "run", plan, "-o", tmp_path / "out", "--trust", "mine_beside")
    assert (code, "0 run, 1 already there (1 of them failed" in out) == (1, True)


@pytest.mark.parametrize("solver", ["nothing:Here", "faults:Here", "faults:np", "broken_module:Here"])
def test_a_solver_that_does_not_exist_is_refused_before_anything_runs(run, tmp_path, solver):
    """No module, no class of that name, no solver, or a module that cannot be imported: one sentence, and no folder."""
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    module = solver.partition(":")[0]
    code, out, err = run(
        "lab", "experiment", "run", plan_of(tmp_path, solver), "-o", tmp_path / "out", "--trust", module
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert solver in err
    assert not (tmp_path / "out").exists()


def test_a_plan_runs_no_program_that_the_caller_did_not_allow(run, tmp_path):
    """Refused in a sentence that says how to allow it; nothing is imported, made or written."""
    code, out, err = run("lab", "experiment", "run", plan_of(tmp_path, "subprocess:Popen"), "-o", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--trust subprocess" in err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def damaged(results, tmp_path):
    """The small experiment with an empty result, a cut-off one, one that lies about its type, and a cut-off trace."""
    folder = shutil.copytree(results.path, tmp_path / "damaged")
    empty, cut, lying, trace = [folder / "runs" / f"{run.key}.jsonl" for run in results.plan().runs[:4]]
    empty.write_bytes(b"")
    cut.write_bytes(cut.read_bytes()[:100])
    lying.write_text(lying.read_text().replace('"state": "done"', '"state": 7'))
    trace.write_bytes(trace.read_bytes() + b'{"type": "improvement", "time": 1')
    return folder, [empty, cut, lying, trace]


@pytest.mark.parametrize(
    "words",
    [
        ["table"],
        ["report", "-o", "OUT.html"],
        ["plot", "--figure", "cost-iterations", "-o", "OUT.svg"],
        ["compare", "short", "long (steps=10)"],
        ["pack", "-o", "OUT.jsonl.xz"],
    ],
    ids=lambda words: words[0],
)
def test_damaged_results_are_left_out_with_a_line_that_names_them(run, damaged, tmp_path, words):
    """One damaged file of many costs neither the others nor a traceback."""
    folder, files = damaged
    target = [str(tmp_path / word) if word.startswith("OUT") else word for word in words]
    code, _, err = run("lab", "experiment", target[0], folder, *target[1:])
    assert code == 0
    lines = [line for line in err.splitlines() if "left out" in line]
    assert sorted(line.split(":")[1].strip() for line in lines if "this result" in line) == sorted(map(str, files[:3]))
    assert all(line.startswith("dabp: ") for line in lines)


def test_damaged_results_are_made_again(run, damaged, tmp_path, monkeypatch):
    """Run says which, and afterwards all are whole."""
    folder, files = damaged
    (tmp_path / "small.toml").write_text(SMALL)
    code, out, err = run("lab", "experiment", "run", tmp_path / "small.toml", "-o", folder, "--trust", "faults")
    assert code == 1  # some of the plan's runs fail
    assert "3 run, 33 already there" in out
    assert sum(str(file) in err for file in files[:3]) == 3
    assert "left out" not in run("lab", "experiment", "table", folder).err


def test_a_damaged_plan_is_one_sentence(run, damaged):
    """It cannot be guessed; the file is named."""
    folder, _ = damaged
    for content in (b"", b"{}", b"[1]", b"\xff", b'{"runs": 3}'):
        (folder / "plans" / "small.json").write_bytes(content)
        code, out, err = run("lab", "experiment", "table", folder)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "small.json" in err


@pytest.mark.parametrize("name", NAMES)
def test_the_bar_of_an_experiment_shows_its_title_as_it_is(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A plan's title is whatever its author wrote; failures are counted beside it."""
    screen = terminal(monkeypatch)
    with progress_bar(name) as show:
        assert show is not None
        show(State(total=3, done=2, failed=1))
    assert name in screen.getvalue()
    assert "1 failed" in screen.getvalue()
