"""``dabp solve``: from a file to the best answer."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dabp import cli
from dabp.cli.completion import complete_parameter, complete_solver
from dabp.cli.display import AnswerPrinter
from dabp.cli.options import AsJson, Fix, Format, MaxBytes, MaxCells, check_fixed, pairs, read_problem, report
from dabp.cli.paths import check_answer, check_apart, check_input, check_output, check_problems, places
from dabp.driver.interruption import Interruption
from dabp.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from dabp.driver.result import Result
    from dabp.problem import Label, Problem

Solver = Annotated[
    str, typer.Option("--solver", "-s", help="Solver; `dabp solvers` lists them.", autocompletion=complete_solver)
]
Seconds = Annotated[
    float | None,
    typer.Option(
        *("--time", "--time-limit", "-t"),
        metavar="SECONDS",
        help="Time limit, loading and reading included; 30 if nothing else ends the solve; inf for none.",
    ),
]
Iterations = Annotated[
    int | None, typer.Option("--iterations", "--max-iterations", "-i", help="Stop after this number of iterations.")
]
Target = Annotated[float | None, typer.Option("--target", metavar="COST", help="Stop at a cost as good as this.")]
Stagnation = Annotated[
    int | None, typer.Option("--stagnation", help="Stop after this number of iterations without improvement.")
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", "--memory-limit", metavar="SIZE", help="Stop when the process holds more, such as 500MB or 2GiB."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of all randomness.")]
Threads = Annotated[
    int | None, typer.Option("--threads", help="Cores to use; by default all for auto, one for others.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        *("--param", "-p"),
        metavar="NAME=VALUE",
        help="A solver's parameter; repeatable.",
        autocompletion=complete_parameter,
    ),
]
Relax = Annotated[
    bool, typer.Option("--relax", help="Violate hard constraints, by as little as possible, if they cannot all hold.")
]
RelaxCount = Annotated[
    bool, typer.Option("--relax-count", help="The same, but as few as possible, each by however much.")
]
Prices = Annotated[
    list[str] | None,
    typer.Option("--price", metavar="NAME=PRICE", help="What violating a constraint costs with --relax; repeatable."),
]
Solutions = Annotated[
    int | None,
    typer.Option(
        "--solutions", min=1, help="How many different answers to print, the best first; --time is for all together."
    ),
]
Distance = Annotated[
    int | None,
    typer.Option("--distance", min=1, help="In how many variables every two answers of --solutions differ at least."),
]
Initial = Annotated[Path | None, typer.Option("--initial", help="Solution file to start from.")]
Presolve = Annotated[
    bool | None, typer.Option("--presolve/--no-presolve", help="Simplify first (default: as the solver asks).")
]
Checkpoint = Annotated[Path | None, typer.Option("--checkpoint", help="Save the state here every few seconds.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the solution (.json, .sol, .MPE, .csv); of several files, a folder."),
]
TraceFile = Annotated[
    Path | None, typer.Option("--trace", help="Write the history as JSON lines; of several files, a folder.")
]
LearnedFile = Annotated[
    Path | None,
    typer.Option("--record-learned", metavar="FILE", help="Write what dabp learned in each iteration, as .npz."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show the answer only: no live line, no remarks.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show what each member of auto does.")]
Evidence = Annotated[
    list[str] | None,
    typer.Option("--evidence", metavar="FILE|NAME=VALUE", help="Observed values, as a file or one by one; repeatable."),
]


@dataclass(frozen=True)
class _Files:
    """Files that are read or written beside the problems."""

    initial: Path | None
    evidence: list[str]
    output: Path | None
    trace: Path | None
    checkpoint: Path | None
    resume: bool
    several: bool
    """Whether several answers are written."""

    def check(self, problems: list[str], format: str | None) -> None:
        """Raise an error for a file that cannot be read or written."""
        from dabp.formats.evidence import is_text

        if len(problems) > 1 and (self.checkpoint or self.initial):
            raise ParameterError("--checkpoint and --initial go with one file")
        if self.resume and self.checkpoint is None:
            raise ParameterError("--resume needs the file to continue from, --checkpoint FILE")
        if self.several:
            for option, given in (("--checkpoint", self.checkpoint), ("--trace", self.trace)):
                if given is not None:
                    raise ParameterError(f"{option} does not go with --solutions, which solves several times")
            if len(problems) > 1:
                raise ParameterError("--solutions goes with one file")
        check_problems(problems, format)
        check_input(self.initial)
        for evidence in self.evidence:
            if not is_text(evidence):
                check_input(evidence)
        check_output(self.checkpoint, replaced=True)

    def remarks(self, problems: list[str]) -> list[str]:
        """Files beside the problems that look like evidence and are not used."""
        unused = [] if self.evidence else [f"{file}.evid" for file in problems if os.path.exists(f"{file}.evid")]
        return [f"{file} is not used; --evidence {file} reads it" for file in unused]

    def written(self, problems: list[str]) -> list[tuple[Path | None, Path | None]]:
        """The files of each problem's answer and trace, checked to be writable."""
        answers = places(problems, self.output, ".json", "--output")
        traces = places(problems, self.trace, ".jsonl", "--trace")
        for answer, trace in zip(answers, traces, strict=True):
            written = {"--checkpoint": self.checkpoint, "--output": answer, "--trace": trace}
            check_apart(written, [*problems, *self.evidence])
            check_answer(answer, several=self.several)
            check_output(trace)
        return list(zip(answers, traces, strict=True))


def solve(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Problem files, or - for standard input.")],
    solver: Solver = "auto",
    time: Seconds = None,
    iterations: Iterations = None,
    target: Target = None,
    stagnation: Stagnation = None,
    memory: Memory = None,
    seed: Seed = 0,
    threads: Threads = None,
    param: Parameters = None,
    fix: Fix = None,
    relax: Relax = False,
    relax_count: RelaxCount = False,
    price: Prices = None,
    solutions: Solutions = None,
    distance: Distance = None,
    initial: Initial = None,
    presolve: Presolve = None,
    checkpoint: Checkpoint = None,
    resume: Resume = False,
    output: Output = None,
    trace: TraceFile = None,
    record_learned: LearnedFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    evidence: Evidence = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Find an assignment of least cost, or several, within a time limit or until it is proved.

    Ctrl-C ends it with the best answer so far. Exit code 0: an answer (with --relax maybe one that violates what
    it names); 1: none found or none exists; 2: wrong input, or a file that cannot be written.
    """
    several = _several(solutions, distance, relax or relax_count)
    beside = _Files(initial, evidence or [], output, trace, checkpoint, resume, bool(several))
    options: dict[str, Any] = several | {
        "params": pairs(param or [], "--param"),
        "time_limit": time,
        "max_iterations": iterations,
        "target": target,
        "stagnation": stagnation,
        "memory_limit": _size(memory),
        "seed": seed,
        "threads": threads,
        "fix": pairs(fix or [], "--fix"),
        "relax": _relax(relax, relax_count, price or [], format),
        "presolve": presolve,
        "checkpoint": checkpoint,
        "resume": resume,
    }
    beside.check(files, format)
    display = AnswerPrinter.of(files, format, solutions=bool(several), as_json=as_json, quiet=quiet, verbose=verbose)
    report([] if display.quiet or display.as_json else beside.remarks(files))
    sources = [partial(read_problem, file, format, max_cells, max_bytes) for file in files]
    with _recorded(record_learned, files, options):
        _solve_all(list(zip(sources, beside.written(files), strict=True)), solver, options, beside, display)


@contextlib.contextmanager
def _recorded(path: Path | None, files: list[str], options: dict[str, Any]) -> Iterator[None]:
    """Observe what is solved meanwhile, and write what was learned to `path`, if there is one."""
    if path is None:
        yield
        return
    if path.suffix != ".npz" or len(files) > 1:
        raise ParameterError("--record-learned takes a file .npz, and goes with one problem")
    check_output(path)
    from dabp.driver.learned import Learned

    options["observe"] = learned = Learned()
    yield
    learned.save(path)


def _solve_all(
    sources: Iterable[tuple[Callable[[], Problem], tuple[Path | None, Path | None]]],
    solver: str,
    options: dict[str, Any],
    beside: _Files,
    display: AnswerPrinter,
) -> None:
    """Solve the problems in their order; answers are printed also if something fails later."""
    announcement = "" if display.as_json or display.quiet else _announced(solver, options)
    rows: list[tuple[Problem, Result]] = []
    answered = True
    try:
        for number, (source, written) in enumerate(sources):
            begun = perf_counter() if number else cli.loading_began
            problem = source()
            with Interruption() as interruption:  # also while the answer is written: it is not lost to a signal
                given = {**options, **_given(problem, options["fix"], beside)}
                given["time_limit"] = seconds_left(options["time_limit"], perf_counter() - begun)
                if announcement and not rows:
                    report([f"{announcement} (--time)"])
                results = _solved(problem, solver, given, display)
                rows += [(problem, result) for result in results]
                answered = answered and results[0].assignment is not None
                files = _save(problem, results if display.solutions else results[0], *written)
                if files and not (display.as_json or display.quiet):
                    report([f"wrote {' and '.join(map(str, files))}"])
            if interruption.requested or results[-1].status.value == "INTERRUPTED":
                break
    finally:
        if rows:
            display.show(rows)
    if not answered:
        raise typer.Exit(1)


def seconds_left(limit: float | None, reading: float) -> float | None:
    """The time limit less the seconds of loading and reading if these are 5 % of it or more; at least half of it."""
    if limit is None or not limit > 0 or reading < 0.05 * limit:
        return limit
    return max(limit - reading, limit / 2)


def _size(text: str | None) -> str | None:
    """An amount of memory; earlier versions took a number of megabytes, which is refused."""
    if text is not None and text.strip().isdigit() and int(text) < 1_000_000:
        raise ParameterError(f"--memory takes bytes, or a unit: {text.strip()}MB for megabytes, as before")
    return text


def _several(solutions: int | None, distance: int | None, relax: bool) -> dict[str, int]:
    """The options that `solve_several` takes and `solve` does not; empty for one answer."""
    if distance is not None and solutions is None:
        raise ParameterError("--distance goes with --solutions")
    if solutions is None or solutions == 1:
        return {}
    if relax:
        raise ParameterError("--relax does not go with --solutions, whose answers violate nothing")
    return {"solutions": solutions, "distance": distance or 1}


def _relax(relax: bool, count: bool, prices: list[str], format: str | None) -> bool | str | dict[str, float]:
    """The argument `relax` of `solve`."""
    if count and (relax or prices):
        raise ParameterError(f"--relax-count does not go with {'--price' if prices else '--relax'}")
    if prices and not relax:
        raise ParameterError("--price goes with --relax")
    if (relax or count) and format == "maxsat":
        raise ParameterError("--relax does not go with --format maxsat, whose answers have no words for it")
    named = pairs(prices, "--price")
    try:
        return {name: float(text) for name, text in named.items()} or ("count" if count else relax)
    except ValueError:
        raise ParameterError(f"--price takes name=number, not {prices!r}") from None


def _announced(solver: str, options: dict[str, Any]) -> str:
    """The announcement of the default time limit, empty if the options are sure to end the solve."""
    from dabp.driver.stopping import Limits
    from dabp.solvers import make_solver

    return Limits.of(options).for_solver(make_solver(solver, options["params"]), solver)[1]


def _given(problem: Problem, fix: dict[str, Any], beside: _Files) -> dict[str, Any]:
    """Fixed values, of evidence and `fix`, and the start."""
    from dabp.formats.solution import read_solution

    observed = _observed(problem, beside.evidence)
    start = None if beside.initial is None else read_solution(beside.initial, problem)
    check_fixed(problem, fix)
    for name, value in fix.items():
        variable = problem.names.variable_index(name)
        label = problem.names.labels(variable)[problem.names.value_index(variable, value)]
        if observed.setdefault(name, label) != label:
            raise ParameterError(f"--fix sets {name!r} to {label!r} and the evidence to {observed[name]!r}")
    return {"fix": observed, "initial": start}


def _observed(problem: Problem, evidence: list[str]) -> dict[str, Label]:
    from dabp.formats.evidence import is_text, read_evidence

    fixed: dict[int, int] = {}
    for one in evidence:
        try:
            found = read_evidence(one, problem)
        except FormatError as error:
            raise ParameterError(f"--evidence {one}: {error.message}") if is_text(one) else error from None
        for variable, value in found.items():
            if fixed.setdefault(variable, value) != value:
                raise ParameterError(f"--evidence gives variable {problem.names.variable(variable)!r} two values")
    return {problem.names.variable(i): problem.names.labels(i)[v] for i, v in fixed.items()}


def _solved(problem: Problem, solver: str, options: dict[str, Any], display: AnswerPrinter) -> list[Result]:
    """The answer, or several if the options say how many."""
    from dabp.driver.live import LiveLine
    from dabp.driver.solve import solve as run

    with LiveLine(verbose=display.verbose, shown=not display.quiet) as line:
        if display.solutions:
            from dabp.driver.several import solve_several

            return solve_several(problem, solver=solver, callbacks=[line], **options)
        return [run(problem, solver, callbacks=[line], **options)]


def _save(problem: Problem, answer: Result | list[Result], output: Path | None, trace: Path | None) -> list[Path]:
    """Write the answer or answers and the trace, each also if the other fails; returns the files that were written."""
    written: list[Path] = []
    failures: list[FormatError] = []
    for path, write in ((output, partial(_write_answer, problem, answer)), (trace, partial(_write_trace, answer))):
        try:
            if path is not None and write(path):
                written.append(path)
        except FormatError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return written


def _write_answer(problem: Problem, answer: Result | list[Result], path: Path) -> bool:
    from dabp.formats.solution import holds_values_only, write_solution

    if not isinstance(answer, list) and answer.assignment is None and holds_values_only(path):
        report([f"{path}: not written, there is no assignment to write (JSON can say so)"])
        return False
    write_solution(answer, problem, path)
    return True


def _write_trace(answer: Result | list[Result], path: Path) -> bool:
    if isinstance(answer, list):
        raise ParameterError("--trace goes with one answer")
    try:
        answer.trace.save(path)
    except OSError as error:
        raise FormatError(f"it cannot be written ({error.strerror or error})", source=str(path)) from None
    return True
