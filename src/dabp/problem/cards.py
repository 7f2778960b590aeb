"""What notebooks show of an object: a card of facts in HTML that takes its colours from the page, light or dark.

Names come from files and are shown as text, whatever they contain. No style sheet and no script: a card is one piece of
HTML that mail, nbviewer and every notebook show alike.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dabp.problem.shown import shown

if TYPE_CHECKING:
    from dabp.problem import Problem

LONGEST = 60
"""Largest number of characters of a name or label on a card."""

ROWS = 20
"""Largest number of variables, cost functions or notes that a card lists."""


def escaped(text: object, longest: int = LONGEST) -> str:
    """Text for a card: nothing in it is markup, moves a cursor or is endless."""
    plain = shown(str(text))
    return html.escape(plain if len(plain) <= longest else f"{plain[: longest - 1]}…")


def card(title: str, facts: Iterable[tuple[str, str]], *parts: str, aside: str = "") -> str:
    """A card: its title, facts by name, and further parts; all of it HTML already, the names of facts are ours."""
    rows = "".join(f'<div style="opacity:.65">{name}</div><div>{value}</div>' for name, value in facts)
    head = f'<div style="display:flex;gap:.8em;align-items:center;flex-wrap:wrap"><b>{title}</b>{aside}</div>'
    border = "border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:.8em 1em"
    grid = "display:grid;grid-template-columns:max-content 1fr;gap:.15em 1.2em;margin-top:.5em"
    style = f"font-family:system-ui,sans-serif;max-width:44em;{border}"
    return f'<div style="{style}">{head}<div style="{grid}">{rows}</div>{"".join(parts)}</div>'


def listed(
    summary: str, headings: Sequence[str], rows: Sequence[Sequence[object]], more: int = 0, longest: int = LONGEST
) -> str:
    """A part that opens at a click: a table, and the number of rows that it leaves out."""
    if not rows:
        return ""
    style = "text-align:left;padding:.1em 1.2em .1em 0;background:none"
    head = "".join(f'<th style="{style};opacity:.65;font-weight:normal">{name}</th>' for name in headings)
    cells = ("".join(f'<td style="{style}">{escaped(value, longest)}</td>' for value in row) for row in rows)
    body = "".join(f'<tr style="background:none">{row}</tr>' for row in cells)
    rest = f'<div style="opacity:.65">… and {more:,} more</div>' if more else ""
    look = "border-collapse:collapse;margin:.3em 0;color:inherit;font-size:inherit"
    table = f'<table style="{look}"><tr style="background:none">{head}</tr>{body}</table>'
    return f'<details style="margin-top:.5em"><summary>{summary}</summary>{table}{rest}</details>'


def facts_of(problem: Problem) -> list[tuple[str, str]]:
    """What a problem holds, by name, in words."""
    finite = problem.pool[np.isfinite(problem.pool)]
    costs = f"{len(problem.pool):,} in {len(problem.pool_offsets) - 1:,} tables"
    if len(finite) < len(problem.pool):
        costs += f", {len(problem.pool) - len(finite):,} forbidden"
    if len(finite):
        kind = "integers" if problem.facts.integral_tables else "numbers"
        costs += f"; {kind} from {finite.min():g} to {finite.max():g}"
    facts = [
        ("objective", "maximise" if problem.maximize else "minimise"),
        (
            "variables",
            f"{problem.auxiliaries.num_visible:,}"
            + _kinds(problem.domain_sizes[: problem.auxiliaries.num_visible], "values", "value"),
        ),
        ("cost functions", f"{problem.num_factors:,}" + _kinds(problem.arities, "variables", "variable")),
        ("costs", costs),
    ]
    if problem.auxiliaries.count:
        facts.insert(2, ("auxiliary", f"{problem.auxiliaries.count:,} variables that follow from the others"))
    if problem.constant:
        facts.append(("constant", f"{problem.constant:g}"))
    if problem.limit is not None:
        facts.append(("limit", f"only totals better than {problem.limit:g}"))
    return facts


def _kinds(counts: np.ndarray, several: str, one: str) -> str:
    """The range of some counts in words: one number, or from the least to the most."""
    if not len(counts):
        return ""
    low, high = int(counts.min()), int(counts.max())
    return f" of {low} {one if low == 1 else several}" if low == high else f" of {low} to {high} {several}"


def problem_card(problem: Problem, kind: str = "Problem") -> str:
    """A problem, or what a `kind` makes: how many of what, and the first of its variables and cost functions."""
    variables = [
        (each.name, _labels(each.labels)) for each in problem.variables[: min(ROWS, problem.auxiliaries.num_visible)]
    ]
    factors = []
    for index in range(min(ROWS, problem.num_factors)):
        scope = ", ".join(problem.names.variable(v) for v in problem.scope(index).tolist())
        cells = problem.cells(index)
        finite = cells[np.isfinite(cells)]
        span = f"{finite.min():g} to {finite.max():g}" if len(finite) else "nothing allowed"
        if 0 < len(finite) < len(cells):
            span += f", {len(cells) - len(finite):,} of {len(cells):,} forbidden"
        factors.append((problem.names.factor(index), scope, span))
    return card(
        f"{kind} {escaped(problem.name)}",
        facts_of(problem),
        listed("Variables", ("name", "values"), variables, problem.auxiliaries.num_visible - len(variables)),
        listed("Cost functions", ("name", "over", "costs"), factors, problem.num_factors - len(factors)),
    )


def _labels(labels: Sequence[object]) -> str:
    few = ", ".join(map(str, labels[:8]))
    return few if len(labels) <= 8 else f"{few}, … ({len(labels)})"
