"""The command line as a whole: help, version, wrong words, and targets looked at before any work."""

from __future__ import annotations

import errno
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dabp
from dabp.cli import COMMANDS, app, is_closed_pipe
from tests.cli.conftest import Run, params


def test_the_version_is_told(run: Run) -> None:
    """By the program's name and number."""
    assert run("--version").out == f"dabp {dabp.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["experiment", "run", "x"], "`dabp lab experiment`"),
        (["train-policy"], "`dabp lab train-policy`"),
        (["generate", "ising", "--row_count", "3"], "write --param row_count=3"),
        (["generate", "random-cop", "-n", "3"], "write --param variables=3"),
        (["convert", "FILE", "x.unknown"], "name one with format (--to)"),
        (["slove", "x"], "Did you mean 'solve'"),
        (["solve", "nowhere.xml"], "nowhere.xml"),
        (["solve", "FILE", "--solver", "dpb"], "did you mean 'dbp'"),
        (["solve", "FILE", "--solver", "bp", "--param", "dampin=1"], "did you mean 'damping'"),
        (["solve", "FILE", "--solver", "bp", "--param", "damping"], "name=value"),
        (["solve", "FILE", "--solver", "bp", "--param", "damping=lots"], "not 'lots'"),
        (["solve", "FILE", "--fix", "zz=1"], "no variable 'zz'"),
        (["solve", "FILE", "--time", "-3"], "time limit"),
        (["solve", "FILE", "--time", "soon"], "'soon' is not a number"),
        (["solve", "FILE", "--iterations", "1.5"], "'1.5' is not a whole number"),
        (["solve", "FILE", "--solutions", "0"], "0 is not at least 1."),
        (["solve", "FILE", "--memory", "5"], "5MB is megabytes"),
        (["evaluate", "FILE"], "Missing argument 'SOLUTION'"),
        (["sing"], "No such command 'sing'. `dabp --help` lists them."),
        (["lab", "experiment", "run", "FILE", "--jobs", "0"], "0 is not at least 1 and at most 1000"),
        (["solve", "FILE", "FILE", "--output", "x.json"], "of several files is a folder"),
        (["solve", "FILE", "FILE", "--checkpoint", "x"], "one file"),
        (["solve", "FILE", "--solver", "maxsum"], "'bp'"),
        (["solve", "FILE", "--solver", "DPOP"], "'mbe'"),
        (["solve", "FILE", "--solver", "Tabu"], "did you mean 'tabu'"),
        (["plot", "problem", "FILE"], "--output FILE"),
        (["solve", "FILE", "--initial", "nowhere.json"], "nowhere.json"),
        (["solve", "FILE", "--solver", "bp", "--resume"], "checkpoint"),
        (["info", "FILE", "--format", "xlm"], "xlm"),
        (["solve", "."], "a folder, not a file"),
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


@pytest.mark.parametrize("words", [[], ["plot"], ["lab"], ["lab", "experiment"], ["solve"], ["generate"]], ids=" ".join)
def test_a_command_without_arguments_shows_its_help(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """As ``--help`` does, with exit code 0, no cut sentence and no programmer's type, in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: {' '.join(['dabp', *words])} ")
    assert out.strip() == run(*words, "--help").out.strip()
    assert max(map(len, out.splitlines())) <= 80
    for unwanted in ("...\n", "<", "{", "x>"):
        assert unwanted not in out.partition("\n")[2]


def test_a_command_loads_no_other(problem_file: Path) -> None:
    """`dabp info` does not load experiments and plots; `app`, for the reference, has all commands."""
    script = (
        f"import sys; sys.argv = ['dabp', 'info', {str(problem_file)!r}]\n"
        "from dabp.cli import COMMANDS, main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "loaded = [name for name in COMMANDS if f\"dabp.cli.{name.replace('-', '_')}\" in sys.modules]\n"
        "print(loaded, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "['info']"
    shown = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert shown | {group.name for group in app.registered_groups} == set(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "light"),
    [
        (["--help"], {"numpy", "rich", "yaml"}),
        (["solve", "--help"], {"numpy", "rich", "yaml"}),
        (["info", "FILE"], {"rich"}),
        (["solve", "INTEGERS", "--quiet", "--time", "5"], {"rich", "numpy.ma", "yaml"}),
        (["solvers"], set()),
    ],
)
def test_light_commands_import_nothing_heavy(
    run: Run, problem_file: Path, tmp_path: Path, arguments: list[str], light: set[str]
) -> None:
    """Nor does the solve of ten variables; help does without NumPy, and without Rich what shows no table."""
    integers = tmp_path / "integers.wcsp"
    run("generate", "random-cop", *params(variables=10, domain=5, density=0.25), "-o", integers)
    files = {"FILE": str(problem_file), "INTEGERS": str(integers)}
    words = [files.get(word, word) for word in arguments]
    script = (
        f"import sys; sys.argv = ['dabp', *{words!r}]\n"
        "from dabp.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print(sorted({{'torch', 'numba', 'matplotlib', *{light!r}}} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    "command",
    [
        ["convert", "absent.wcsp", "TARGET"],
        ["presolve", "absent.wcsp", "TARGET"],
        ["generate", "absent", "-o", "TARGET"],
        ["plot", "problem", "absent.wcsp", "-o", "TARGET"],
        ["plot", "trace", "absent.jsonl", "-o", "TARGET"],
        ["plot", "compare", "absent.jsonl", "-o", "TARGET"],
        ["lab", "experiment", "table", "absent", "-o", "TARGET"],
        ["lab", "experiment", "plot", "absent", "--figure", "memory", "-o", "TARGET"],
        ["lab", "experiment", "report", "absent", "-o", "TARGET"],
        ["lab", "experiment", "pack", "absent", "-o", "TARGET"],
    ],
    ids=" ".join,
)
def test_other_commands_look_at_their_target_first(run: Run, tmp_path: Path, command: list[str]) -> None:
    """Before they read, reduce or draw anything: with nothing to read, it is still the target they complain of."""
    target = tmp_path / "nowhere" / "x.wcsp"
    code, out, err = run(*[target if word == "TARGET" else word for word in command])
    assert (code, out) == (2, "")
    assert err == f"dabp: {target}: it cannot be written (No such file or directory)\n"


@pytest.mark.parametrize("command", [["convert", "absent.wcsp"], ["presolve", "absent.wcsp"], ["generate", "x", "-o"]])
def test_an_unknown_format_to_write_is_told_first(run: Run, command: list[str]) -> None:
    """Presolve may take minutes; what it cannot write afterwards is known before."""
    code, _, err = run(*command, "x.unknown")
    assert code == 2
    assert err.startswith("dabp: x.unknown: its name does not tell the format")


@pytest.mark.parametrize("words", [["info", "FILE"], ["solvers"], ["solve", "FILE", "-s", "bp", "-i", "5"], ["--help"]])
def test_output_that_nobody_reads_ends_quietly(problem_file: Path, words: list[str]) -> None:
    """``dabp … | head -1``: no traceback, no message, the exit code of SIGPIPE."""
    command = [sys.executable, "-m", "dabp", *(str(problem_file) if word == "FILE" else word for word in words)]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_text_of_any_kind_goes_to_a_terminal_of_any_kind(problem_file: Path) -> None:
    """The answer, solvers' Greek letters and a wrong name reach streams whose encoding has no words for them."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for arguments, code, words in (
        (["solve", str(problem_file), "--solver", "bp", "--presolve", "--iterations", "20"], 0, "assignment "),
        (["solvers"], 0, "toulbar2-pils"),
        (["solve", str(problem_file), "--fix", "λ=1"], 2, "no variable"),
    ):
        command = [sys.executable, "-m", "dabp", *arguments]
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert done.returncode == code, done.stderr
        assert words in (done.stdout + done.stderr).decode("ascii")
    converted = [sys.executable, "-m", "dabp", "convert", "-", "-", "--format", "yaml", "--to", "yaml"]
    text = "name: p\nobjective: min\ndomains: {d: {values: [ä, λ]}}\nvariables: {é: {domain: d}}\nconstraints: {}\n"
    done = subprocess.run(converted, input=text.encode(), capture_output=True, env=environment, check=True)
    assert dabp.read(io.BytesIO(done.stdout), "yaml").names.labels(0) == ("ä", "λ")


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "words"),
    [
        (["solve", "FILE", "--solver", "bp", "--iterations", "5", "-o", "a.json"], ">&- 2>&-", 0, ""),
        (["solve", "FILE", "--solver", "bp", "--iterations", "5", "--json"], ">&-", 0, ""),
        (["info", "-", "--format", "xml"], "<&-", 2, "dabp: standard input: it is closed\n"),
    ],
)
def test_closed_streams_are_no_tracebacks(
    problem_file: Path, arguments: list[str], closed: str, code: int, words: str
) -> None:
    """As under a service manager that gives a process no standard streams."""
    command = shlex.join([sys.executable, "-m", "dabp", *(str(problem_file) if w == "FILE" else w for w in arguments)])
    done = subprocess.run(
        ["sh", "-c", f"{command} {closed}"], capture_output=True, text=True, check=False, cwd=problem_file.parent
    )
    assert (done.returncode, done.stderr) == (code, words)
    if "-o" in arguments:
        assert (problem_file.parent / "a.json").exists()


def test_a_closed_pipe_is_known_by_what_each_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no EPIPE for a write, and EINVAL of a file is another mistake."""
    on_windows = {errno.EPIPE: True, errno.EINVAL: True, errno.ENOSPC: False}
    for platform, closed in (("linux", {**on_windows, errno.EINVAL: False}), ("win32", on_windows)):
        monkeypatch.setattr(sys, "platform", platform)
        assert {number: is_closed_pipe(OSError(number, "")) for number in closed} == closed
        assert not is_closed_pipe(OSError(errno.EINVAL, "", "a?.cfn"))
