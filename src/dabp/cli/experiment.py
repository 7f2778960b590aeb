"""``dabp lab experiment``: run a plan, and read tables, figures, comparisons and a report out of its results."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dabp.cli.options import report as report_lines
from dabp.cli.paths import check_write
from dabp.cli.plot import save_figure
from dabp.driver.interruption import ENDING
from dabp.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from dabp.lab.experiments.experiment_plan import Plan
    from dabp.lab.experiments.store import Results

app = typer.Typer(
    help="Run plans of experiments, and make tables, figures and reports of their results.", rich_markup_mode=None
)


ResultsPath = Annotated[Path, typer.Argument(help="Folder of results, or a packed file (.jsonl.xz).")]
PlanName = Annotated[str | None, typer.Option("--plan", help="One plan of the folder; by default all of them.")]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        help="A module whose solvers the plan may run as module:Class, or a folder elsewhere whose files it may read; "
        "repeatable.",
        show_default=False,
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; by default standard output.")]


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder that results are kept in.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="Runs at a time on this machine.", min=1, max=1000)] = 1,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786, to run there instead.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Run failed runs again.")] = False,
    trust: Trust = None,
) -> None:
    """Run what is missing of a plan; the same command continues. Exit code 1 if runs of the plan have failed."""
    from dabp.lab.experiments.experiment_plan import load_plan
    from dabp.lab.experiments.run_plan import run_plan
    from dabp.problem.shown import shown

    loaded = load_plan(plan, trust or ())
    with _interruptible(), progress_bar(shown(loaded.title)) as progress:
        try:
            state = run_plan(
                loaded,
                output,
                jobs=jobs,
                scheduler=scheduler,
                retry_failed=retry_failed,
                trust=trust or (),
                command=["dabp", *sys.argv[1:]],
                progress=progress,
            )
        except KeyboardInterrupt:
            report_lines([f"finished runs are in {output}; the same command continues"])
            raise typer.Exit(130) from None
    before = f" ({state.failed_before} of them failed: --retry-failed tries again)" if state.failed_before else ""
    typer.echo(
        f"{state.done} run, {state.skipped} already there{before}, "
        f"{state.failed} failed, of {state.total}; "
        f"'dabp lab experiment table {output}' shows them"
    )
    if state.failed:
        report_lines([f"last failure: {shown(state.last_failure)}"])
    if state.failed or state.failed_before:
        raise typer.Exit(1)


@app.command()
def table(
    results: ResultsPath,
    plan: PlanName = None,
    format: Annotated[str, typer.Option("--format", "-f", help="text, csv, markdown or latex.")] = "text",
    output: Output = None,
) -> None:
    """Mean cost per constraint, gap to the best, time, confidence and failures."""
    from dabp.lab.experiments.results_table import FORMATS, rows

    if format not in FORMATS:
        raise ParameterError(f"there is no format {format!r}{suggestion(format, FORMATS)}")
    check_write(output, [results])
    text = FORMATS[format](rows(*_opened(results, plan)))
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8", newline="\n")


@app.command()
def plot(
    results: ResultsPath,
    figure: Annotated[str, typer.Option(help="Which figure; 'list' names them.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Image (.svg, .png, .pdf).")] = None,
    plan: PlanName = None,
) -> None:
    """Draw a figure of the results, a panel per group of instances."""
    from dabp.lab.experiments.figures import FIGURES
    from dabp.lab.experiments.figures import figure as make_figure
    from dabp.plots.drawing import draw_figure, label_order

    if figure == "list":
        typer.echo("\n".join(FIGURES))
        return
    target = output or Path(f"{figure}.svg")
    check_write(target, [results])
    made = make_figure(figure, *_opened(results, plan))
    save_figure(draw_figure(made, label_order(made)), target)


@app.command()
def report(
    results: ResultsPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
) -> None:
    """Write one self-contained page with tables, interactive figures, plans, versions and commands."""
    from dabp.lab.experiments.report import write_report
    from dabp.lab.experiments.store import Results

    check_write(output, [results], replaced=True)
    write_report(Results(results), output, title)
    report_lines([f"wrote {output} ({output.stat().st_size / 1000:.0f} kB)"])


@app.command()
def compare(
    results: ResultsPath,
    first: Annotated[str, typer.Argument(help="Label of a solver.")],
    second: Annotated[str, typer.Argument(help="Label of another.")],
    plan: PlanName = None,
) -> None:
    """Compare two solvers on the same instances: wins, draws, losses and Wilcoxon's signed-rank test."""
    from dabp.lab.experiments.results_table import compare as pair
    from dabp.problem.shown import shown

    found = pair(*_opened(results, plan), first, second)
    test = found.test
    typer.echo(f"{shown(first)} against {shown(second)}: {found.wins} wins, {found.draws} draws, {found.losses} losses")
    typer.echo(f"mean difference of cost per constraint {found.mean_difference:+.4f}")
    how = "exact" if test.exact else "normal approximation"
    typer.echo(f"Wilcoxon signed-rank: W = {test.statistic:g} over {test.pairs} differing pairs, p = {test.p_value:.3g}"
               f" ({how}, two-sided)")  # fmt: skip


@app.command()
def check(results: ResultsPath, plan: PlanName = None) -> None:
    """Make every instance again and compute the costs of the recorded answers; exit code 1 if one does not hold."""
    from dabp.lab.experiments.reproduction import verify
    from dabp.problem.shown import shown

    count = wrong = 0
    for verdict in verify(*_opened(results, plan)):
        count += 1
        if verdict.wrong is not None:
            wrong += 1
            typer.echo(f"{verdict.run.key} ({shown(verdict.run.label)}): {shown(verdict.wrong)}")
    typer.echo(f"{count} results checked, {wrong} do not hold")
    if wrong:
        raise typer.Exit(1)


@app.command()
def rerun(
    results: ResultsPath,
    key: Annotated[str, typer.Argument(help="The beginning of a run's key; without it all runs are listed.")] = "",
    plan: PlanName = None,
    trust: Trust = None,
) -> None:
    """Repeat one run with the seed and the limits that it had, and print both answers; results stay as they are."""
    from dabp.lab.experiments.reproduction import repeat, run_of
    from dabp.problem.shown import shown

    source, chosen = _opened(results, plan)
    if not key:
        for run in chosen.runs:
            typer.echo(f"{run.key[:12]}  seed {run.seed}  {shown(run.label)}  {shown(run.group)}")
        return
    run = run_of(chosen, key)
    typer.echo(f"{shown(run.label)} on {shown(run.group)}, repetition {run.repetition}, seed {run.seed}")
    if (recorded := source.summary(run.key)) is not None:
        typer.echo(f"recorded: {_answer(recorded)}")
    again = repeat(chosen, run, trust or [])
    typer.echo(f"repeated: {_answer(again)}")
    if again["state"] == "failed":
        raise typer.Exit(1)


def _answer(summary: Mapping[str, Any]) -> str:
    from dabp.problem.shown import shown

    if summary["state"] == "failed":
        return f"failed, {summary['reason']}: {shown(summary['detail'])}"
    cost = "no answer" if summary["cost"] is None else f"cost {summary['cost']:.15g}"
    return f"{cost}, {summary['status']}, {summary['iterations']} iterations, {summary['runtime']:.2f} s"


@app.command()
def pack(
    results: ResultsPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Packed file.")] = Path("results.jsonl.xz"),
) -> None:
    """Put a folder's plans and results into one compressed file, which every command here reads."""
    from dabp.lab.experiments.store import Results

    check_write(output, [results], replaced=True)
    count = Results(results).pack(output)
    report_lines([f"wrote {count} results to {output} ({output.stat().st_size / 1000:.0f} kB)"])


@app.command()
def unpack(
    results: ResultsPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder that results are put into.")] = Path("results"),
) -> None:
    """Put a packed file's plans and results into a folder, so that 'run' goes on from them; what is there stays."""
    from dabp.lab.experiments.store import Results

    source = Results(results)
    if results.is_dir():
        raise ParameterError(f"{results} is a folder already: 'run -o {results}' goes on from it")
    count = source.unpack(output)
    report_lines([f"wrote {count} results into {output}"])


def _opened(results: Path, plan: str | None) -> tuple[Results, Plan]:
    from dabp.lab.experiments.store import Results

    source = Results(results)
    return source, source.plan(plan)


@contextmanager
def _interruptible() -> Iterator[None]:
    """End an experiment on SIGTERM, or Ctrl-Break on Windows, as on Ctrl-C: workers end, results stay."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[..., None] | None]:
    """A bar with the estimated end and the failures so far, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress

    from dabp.cli.display import console
    from dabp.lab.experiments.run_plan import Progress as State

    columns = (
        *(progress.TextColumn("{task.description}", markup=False), progress.BarColumn(), progress.MofNCompleteColumn()),
        *(progress.TimeElapsedColumn(), progress.TextColumn("left"), progress.TimeRemainingColumn()),
        progress.TextColumn("{task.fields[failures]}", style="red", markup=False),
    )
    with progress.Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task(title, total=None, failures="")

        def show(state: State) -> None:
            failures = f"{state.failed} failed" if state.failed else ""
            bar.update(task, total=state.total - state.skipped, completed=state.done, failures=failures)

        yield show
