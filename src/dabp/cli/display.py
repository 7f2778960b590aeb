"""What a person sees: the live line while a solve runs, the summary after it, tables."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dabp.problem.shown import shown

if TYPE_CHECKING:
    from rich.live import Live

    from dabp.driver.result import Result
    from dabp.driver.stopping import Progress
    from dabp.problem import Problem


class _HarmlessConsole(Console):
    """A console to which text is only text: what would move the cursor or turn the direction is written out."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(shown(text, keep="\n\t"), **options)


def console(stderr: bool = False) -> Console:
    """A console that does not wrap or colour when its output is not a terminal, and shows names as they are.

    Names come from files: Rich's markup (``x[bold]``, ``[/x]``) and emoji (``:cat:``) would change them or fail.
    """
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return _HarmlessConsole(
        stderr=stderr, width=width, highlight=False, soft_wrap=not stream.isatty(), markup=False, emoji=False
    )


def number(value: float | None) -> str:
    """A cost for people: integers without decimals, unknown as a dash."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


class LiveDisplay:
    """One line on standard error while a solve runs; nothing if that is not a terminal."""

    def __init__(self, time_limit: float | None, *, quiet: bool = False, verbose: bool = False):
        self._time_limit, self._verbose = time_limit, verbose
        self._console = console(stderr=True)
        self._shown = self._console.is_terminal and not quiet
        self._live: Live | None = None
        self._members: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> LiveDisplay:
        if self._shown:
            from rich.live import Live

            self._live = Live("starting …", console=self._console, refresh_per_second=8, transient=True)
            self._live.start()
        return self

    def compiling(self) -> None:
        """Say once that kernels compile: the first time on a machine takes a while."""
        if self._live is not None:
            self._live.update("compiling kernels, the first time only …")
            self._live.refresh()

    def __call__(self, progress: Progress) -> None:
        """The driver's callback."""
        if self._live is None:
            return
        left = "" if self._time_limit is None else f"  {max(0.0, self._time_limit - progress.time):.0f} s left"
        bound = "" if progress.bound is None else f"  bound {number(progress.bound)}"
        lines = [f"cost {number(progress.cost)}{bound}  iteration {progress.iterations}{left}"]
        if self._verbose:
            for record in progress.records:
                if "member" in record:
                    self._members[record["member"]] = record
            lines += [_member_line(name, record) for name, record in sorted(self._members.items())]
        self._live.update("\n".join(lines))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()


def _member_line(name: str, record: dict[str, Any]) -> str:
    facts = [f"{key} {number(v) if isinstance(v, int | float) else v}" for key, v in record.items() if key != "member"]
    return shown(f"  {name:16s} {'  '.join(facts)}")


def print_summary(problem: Problem, result: Result, limit: int = 20) -> None:
    """The answer for people, the assignment shortened for large problems."""
    out = console()
    normalized = result.to_dict(problem)["normalized_cost"]
    rows = [
        ("problem", f"{shown(problem.name)} ({problem.num_variables} variables, {problem.num_factors} factors)"),
        ("solver", result.solver),
        ("status", f"{result.status.value}: {result.status.sentence}"),
        ("cost", number(result.cost) if result.feasible else "no feasible assignment found"),
    ]
    if normalized is not None:
        rows.append(("per constraint", f"{normalized:.4f}"))
    if result.bound is not None:
        gap = "" if result.gap is None else f"  (gap {result.gap:.2%})"
        rows.append(("bound", number(result.bound) + gap))
    rows.append(("time", f"{result.runtime:.2f} s, {result.iterations} iterations, seed {result.seed}"))
    for key, value in rows:
        out.print(f"{key:15s} {value}")
    for note in result.notes:
        out.print(f"  · {note}")
    if result.values is not None:
        taken = [shown(f"{name}={label}") for name, label in list(result.values.items())[:limit]]
        rest = len(result.values) - len(taken)
        out.print(f"{'assignment':15s} " + " ".join(taken) + (f" … and {rest} more (--output FILE)" if rest else ""))


def print_comparison(rows: list[tuple[Problem, Result]]) -> None:
    """One table for several problems."""
    table = Table("problem", "status")
    for heading in ("cost", "per constraint", "bound", "gap", "time"):
        table.add_column(heading, justify="right")
    for problem, result in rows:
        facts = result.to_dict(problem)
        table.add_row(
            shown(problem.name),
            result.status.value,
            number(result.cost),
            "–" if facts["normalized_cost"] is None else f"{facts['normalized_cost']:.4f}",
            number(result.bound),
            "–" if result.gap is None else f"{result.gap:.2%}",
            f"{result.runtime:.2f} s",
        )
    console().print(table)
