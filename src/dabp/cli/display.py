"""How answers are printed: a summary or a table for people, one JSON object, or the layout of another program."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dabp.driver.wording import counted, number, percent
from dabp.errors import ParameterError
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from dabp.driver.result import Result
    from dabp.problem import Problem


PROBABLE = 1e-6
"""How far below 0 rounding may bring −ln p."""

LATER = {
    "OPTIMAL": "proved the best of those that differ enough from the answers above",
    "INFEASIBLE": "proved: no other assignment differs enough from the answers above",
}
"""Status of the second and later answers → the sentence that is shown."""


def console(stderr: bool = False) -> Console:
    """A console that does not wrap or colour when its output is not a terminal, and shows names as they are.

    Names come from files: Rich's markup (``x[bold]``, ``[/x]``) and emoji (``:cat:``) would change them or fail.
    """
    from rich.console import Console

    class HarmlessConsole(Console):
        """Writes out characters that would move the cursor or turn the direction of text."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(_safe(text), **options)

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return HarmlessConsole(
        stderr=stderr, width=width, highlight=False, soft_wrap=not stream.isatty(), markup=False, emoji=False
    )


@dataclass(frozen=True)
class AnswerPrinter:
    """Prints the answers of a command in the form that options and files ask for."""

    as_json: bool
    quiet: bool
    verbose: bool
    several: bool
    """Whether several files were given."""

    solutions: bool
    """Whether several answers to one file were asked for."""

    probabilities: bool
    """Whether costs are negated logarithms of probabilities."""

    cuts: bool
    """Whether costs that are maximised are weights of cuts."""

    layout: str | None
    """The format whose layout answers have, ``maxsat`` or ``pydcop``; None for ours."""

    @classmethod
    def of(
        cls, files: list[str], format: str | None, *, solutions: bool, as_json: bool, quiet: bool, verbose: bool
    ) -> AnswerPrinter:
        """The printer for these files and options."""
        from dabp.formats import format_of

        lines = [format_of(file, format) for file in files]
        layout = format if format in ("maxsat", "pydcop") and not as_json else None
        if solutions and layout is not None:
            raise ParameterError(f"--solutions does not go with --format {format}, which has one answer; --json does")
        return cls(
            as_json=as_json,
            quiet=quiet or layout is not None,
            verbose=verbose,
            several=len(files) > 1,
            solutions=solutions,
            probabilities=all(line.probabilities for line in lines),
            cuts=all(line.cuts for line in lines),
            layout=layout,
        )

    def show(self, rows: list[tuple[Problem, Result]]) -> None:
        """Print the answers: in JSON as a list if several files were given or several answers were asked for."""
        if self.as_json:
            facts = [self._facts(problem, result) for problem, result in rows]
            lists = {"solutions": facts} if self.solutions else {"results": facts}
            print(json.dumps(lists if self.solutions or self.several else facts[0], allow_nan=False))
        elif self.layout == "maxsat":
            from dabp.formats.wcnf import as_maxsat

            for problem, result in rows:
                print(as_maxsat(result.assignment, problem, result.cost, result.status.value), end="")
        elif self.layout == "pydcop":
            from dabp.formats.solution import as_pydcop

            for problem, result in rows:
                print(as_pydcop(result, problem), end="")
        elif self.solutions:
            print_solutions(rows[0][0], [result for _, result in rows], measure=self._measure(rows[0][0]))
        elif len(rows) == 1:
            print_summary(*rows[0], measure=self._measure(rows[0][0]))
        else:
            print_comparison(rows)

    def _measure(self, problem: Problem) -> str:
        """The name of the cost: ``cost``, ``cut`` or ``ln probability``, which is the negated cost."""
        if self.probabilities and not problem.maximize:
            return "ln probability"
        return "cut" if self.cuts and problem.maximize else "cost"

    def _facts(self, problem: Problem, result: Result) -> dict[str, Any]:
        facts, measure = result.to_dict(problem), self._measure(problem)
        if measure == "ln probability":
            facts["log_probability"] = None if result.cost is None else -result.cost
        elif measure == "cut":
            facts["cut"] = result.cost
        return facts


def print_summary(problem: Problem, result: Result, limit: int = 20, measure: str = "cost") -> None:
    """Print an answer for people, with at most `limit` variables; `measure` as in `AnswerPrinter`."""
    _print_rows([*_asked(problem, result), ("status", f"{result.status.value}: {result.sentence}")])
    _print_answer(problem, result, limit, measure)


def print_solutions(problem: Problem, results: list[Result], limit: int = 20, measure: str = "cost") -> None:
    """Print several answers to one problem for people, numbered and in their order."""
    _print_rows(_asked(problem, results[0]))
    for place, result in enumerate(results):
        status = result.status.value
        sentence = LATER.get(status, result.sentence) if place else result.sentence
        print()
        _print_rows([("answer", str(place + 1)), ("status", f"{status}: {sentence}")])
        _print_answer(problem, result, limit, measure)


def _asked(problem: Problem, result: Result) -> list[tuple[str, str]]:
    return [("problem", f"{shown(problem.name)} ({_sizes(problem)})"), ("solver", result.solver)]


def _print_rows(rows: list[tuple[str, str]]) -> None:
    for key, value in rows:
        _print_line(f"{key:15s} ", _safe(value))


def _print_line(start: str, text: str) -> None:
    """One line, which a terminal shows in as many as it takes, broken between words and indented as `start` is long."""
    if sys.stdout.isatty():
        width = max(shutil.get_terminal_size().columns, len(start) + 20)
        text = textwrap.fill(
            text,
            width,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_long_words=False,
            break_on_hyphens=False,
        )
        print(text)
    else:
        print(start + text)


def _print_answer(problem: Problem, result: Result, limit: int, measure: str) -> None:
    time = f"{result.runtime:.2f} s, {counted(result.iterations, 'iteration')}, seed {result.seed}"
    _print_rows([*_valued(problem, result, measure), ("time", time)])
    for note in result.notes:
        _print_line("  · ", _safe(note))
    if result.values is not None:
        taken = [shown(f"{name}={label}") for name, label in list(result.values.items())[:limit]]
        rest = len(result.values) - len(taken)
        more = f" … and {rest} more (--output FILE)" if rest else ""
        _print_line(f"{'assignment':15s} ", " ".join(taken) + more)
    if result.beliefs is not None:
        _print_marginals(problem, result, limit)


def _print_marginals(problem: Problem, result: Result, limit: int) -> None:
    exact = "exact" if result.status.value == "OPTIMAL" else "approximate"
    rest = len(result.beliefs or ()) - limit
    print(f"{'marginals':15s} {exact}" + (f"; … and {rest} more variables (--json)" if rest > 0 else ""))
    for variable, chances in enumerate((result.beliefs or ())[:limit]):
        shares = [
            f"{label} {chance:.4f}" for label, chance in zip(problem.names.labels(variable), chances, strict=True)
        ]
        print(f"  {_safe(problem.names.variable(variable)):13s} {_safe('  '.join(shares))}")


def _safe(text: str) -> str:
    return shown(text, keep="\n\t")


def _sizes(problem: Problem) -> str:
    hidden = f" and {problem.auxiliaries.count} auxiliary" if problem.auxiliaries.count else ""
    return f"{counted(problem.auxiliaries.num_visible, 'variable')}{hidden}, {counted(problem.num_factors, 'factor')}"


def _valued(problem: Problem, result: Result, measure: str) -> list[tuple[str, str]]:
    if result.cost is None:
        return [(measure, "no feasible assignment found")]
    gap = "" if result.gap is None else f"  (gap {percent(result.gap)})"
    if measure == "ln probability":
        if result.cost < -PROBABLE:
            rows = [("ln product", f"{number(-result.cost)}  (above 0: the network is not normalised)")]
        else:
            rows = [(measure, f"{number(-result.cost + 0.0)}  (probability {probability_text(result.cost)})")]
        return rows if result.bound is None else [*rows, ("at most", number(-result.bound + 0.0) + gap)]
    rows = [(measure, number(result.cost))]
    if result.violated:
        listed = ", ".join(result.violated[:8]) + (", …" if len(result.violated) > 8 else "")
        rows.append(("violated", shown(f"{counted(len(result.violated), 'hard constraint')}: {listed}")))
    normalized = result.to_dict(problem)["normalized_cost"]
    if measure == "cost" and normalized is not None:
        rows.append(("per constraint", f"{normalized:.4f}"))
    return rows if result.bound is None else [*rows, ("bound", number(result.bound) + gap)]


def probability_text(cost: float) -> str:
    """exp(−cost) in four digits, also where a float64 is too small for it."""
    power = -cost / math.log(10)
    if power > -300:
        return f"{math.exp(-cost):.4g}"
    whole = math.floor(power)
    return f"{10 ** (power - whole):.3f}e{whole}"


def print_comparison(rows: list[tuple[Problem, Result]]) -> None:
    """One table for several problems."""
    from rich.table import Table

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
            "–" if result.gap is None else percent(result.gap),
            f"{result.runtime:.2f} s",
        )
    console().print(table)
