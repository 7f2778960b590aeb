"""What a person sees after a solve: the summary, tables."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from dabp.driver.wording import counted, number, percent
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from dabp.driver.result import Result
    from dabp.problem import Problem


def console(stderr: bool = False) -> Console:
    """A console that does not wrap or colour when its output is not a terminal, and shows names as they are.

    Names come from files: Rich's markup (``x[bold]``, ``[/x]``) and emoji (``:cat:``) would change them or fail.
    """
    from rich.console import Console

    class HarmlessConsole(Console):
        """What would move the cursor or turn the direction of the text is written out."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(_safe(text), **options)

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 120
    return HarmlessConsole(
        stderr=stderr, width=width, highlight=False, soft_wrap=not stream.isatty(), markup=False, emoji=False
    )


def print_summary(problem: Problem, result: Result, limit: int = 20, measure: str = "cost") -> None:
    """The answer for people, the assignment shortened for large problems.

    `measure` says what the cost is: ``cost``, the weight of a ``cut``, or the negative of an ``ln probability``.
    """
    rows = [
        ("problem", f"{shown(problem.name)} ({_sizes(problem)})"),
        ("solver", result.solver),
        ("status", f"{result.status.value}: {result.sentence}"),
        *_valued(problem, result, measure),
        ("time", f"{result.runtime:.2f} s, {counted(result.iterations, 'iteration')}, seed {result.seed}"),
    ]
    for key, value in rows:
        print(f"{key:15s} {_safe(value)}")
    for note in result.notes:
        print(f"  · {_safe(note)}")
    if result.values is not None:
        taken = [shown(f"{name}={label}") for name, label in list(result.values.items())[:limit]]
        rest = len(result.values) - len(taken)
        print(f"{'assignment':15s} " + " ".join(taken) + (f" … and {rest} more (--output FILE)" if rest else ""))
    if result.beliefs is not None:
        _print_marginals(problem, result, limit)


def _print_marginals(problem: Problem, result: Result, limit: int) -> None:
    """The probabilities of each variable's values, for the first variables."""
    exact = "exact" if result.status.value == "OPTIMAL" else "approximate"
    rest = len(result.beliefs or ()) - limit
    print(f"{'marginals':15s} {exact}" + (f"; … and {rest} more variables (--json)" if rest > 0 else ""))
    for variable, chances in enumerate((result.beliefs or ())[:limit]):
        shares = [
            f"{label} {chance:.4f}" for label, chance in zip(problem.names.labels(variable), chances, strict=True)
        ]
        print(f"  {_safe(problem.names.variable(variable)):13s} {_safe('  '.join(shares))}")


def _safe(text: str) -> str:
    """Text that moves no cursor but to the next line or column."""
    return shown(text, keep="\n\t")


def _sizes(problem: Problem) -> str:
    hidden = f" and {problem.auxiliaries.count} auxiliary" if problem.auxiliaries.count else ""
    return f"{counted(problem.auxiliaries.num_visible, 'variable')}{hidden}, {counted(problem.num_factors, 'factor')}"


def _valued(problem: Problem, result: Result, measure: str) -> list[tuple[str, str]]:
    """What the answer is worth, and how far it may be from the best."""
    if result.cost is None:
        return [(measure, "no feasible assignment found")]
    gap = "" if result.gap is None else f"  (gap {percent(result.gap)})"
    if measure == "ln probability":
        rows = [(measure, f"{number(-result.cost + 0.0)}  (probability {_probability(result.cost)})")]
        return rows if result.bound is None else [*rows, ("at most", number(-result.bound + 0.0) + gap)]
    rows = [(measure, number(result.cost))]
    if result.violated:
        listed = ", ".join(result.violated[:8]) + (", …" if len(result.violated) > 8 else "")
        rows.append(("violated", shown(f"{counted(len(result.violated), 'hard constraint')}: {listed}")))
    normalized = result.to_dict(problem)["normalized_cost"]
    if measure == "cost" and normalized is not None:
        rows.append(("per constraint", f"{normalized:.4f}"))
    return rows if result.bound is None else [*rows, ("bound", number(result.bound) + gap)]


def _probability(cost: float) -> str:
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
