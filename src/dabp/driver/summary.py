"""A result for people: about ten lines of text, or a card in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dabp.driver.wording import counted, number, percent
from dabp.problem.cards import ROWS, card, escaped, listed
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from dabp.driver.result import Result

WIDTH = 88
"""Columns of the text."""
NOTES = 3
"""Number of notes that the text shows."""
_COLOURS = {
    "OPTIMAL": "#2e7d32",
    "CONVERGED": "#1565c0",
    "LIMIT": "#8a5a00",
    "INTERRUPTED": "#8a5a00",
    "INFEASIBLE": "#b3261e",
}
"""Status → background colour, dark enough for white letters."""


def facts_of(result: Result) -> list[tuple[str, str]]:
    """Rows of a name and a value: cost, bound, solver, time."""
    known = result.feasible or result.violated
    rows = [("cost", number(result.cost) if known else "no feasible assignment found")]
    if result.violated:
        rows.append(("violated", _cut(", ".join(result.violated), WIDTH - 14)))
    if result.bound is not None:
        gap = "" if result.gap is None else f" (gap {percent(result.gap)})"
        rows.append(("bound", number(result.bound) + gap))
    rows.append(("solver", f"{_cut(result.solver, 40)}, seed {result.seed}"))
    rows.append(("time", f"{result.runtime:.3g} s, {counted(result.iterations, 'iteration')}"))
    return rows


def text_of(result: Result) -> str:
    """The text of a result in about ten lines."""
    lines = [f"{result.status.value}: {result.sentence}"]
    lines += [f"  {name:11s} {value}" for name, value in facts_of(result)]
    if result.values is not None:
        lines.append(f"  {'assignment':11s} {_assignment(result, WIDTH - 14)}")
    for place, note in enumerate(result.notes[:NOTES]):
        lines.append(f"  {'' if place else 'notes':11s} {_cut(note, WIDTH - 14)}")
    if len(result.notes) > NOTES:
        lines.append(f"  {'':11s} … and {len(result.notes) - NOTES} more in .notes")
    return "\n".join(lines)


def _cut(text: str, width: int) -> str:
    """Text that is safe to print, in at most `width` characters."""
    plain = shown(text)
    return plain if len(plain) <= width else f"{plain[: width - 1]}…"


def _assignment(result: Result, width: int) -> str:
    """The values that fit in a line, and the number of the others."""
    values = result.values or {}
    parts: list[str] = []
    left = width - len(" … and 1,000,000 more")
    for name, label in values.items():
        part = _cut(f"{name}={label}", left if not parts else WIDTH)
        if parts and len(part) + 1 > left:
            break
        parts.append(part)
        left -= len(part) + 1
    rest = len(values) - len(parts)
    return " ".join(parts) + (f" … and {rest:,} more" if rest else "")


def card_of(result: Result) -> str:
    """The HTML of a card: status, facts, best cost against time, assignment and notes."""
    status = result.status.value
    badge = (
        f'<span style="background:{_COLOURS[status]};color:#fff;border-radius:4px;padding:0 .5em">{status}</span>'
        f'<span style="opacity:.65">{escaped(result.sentence)}</span>'
    )
    values = result.values or {}
    rows = list(values.items())[:ROWS]
    notes = [(note,) for note in result.notes[:ROWS]]
    return card(
        "Result",
        [(name, escaped(value)) for name, value in facts_of(result)],
        _falling(result),
        listed("Assignment", ("variable", "value"), rows, len(values) - len(rows)),
        listed("Notes", ("what was done",), notes, len(result.notes) - len(notes), longest=300),
        aside=badge,
    )


def _falling(result: Result) -> str:
    """The best cost against time as a small SVG picture; empty if there are fewer than three improvements."""
    costs = [(seconds, cost) for seconds, _, cost in result.trace.improvements if abs(cost) < 1e300]
    if len(costs) < 3:
        return ""
    end = max(result.runtime, costs[-1][0], 1e-9)
    low, high = min(cost for _, cost in costs), max(cost for _, cost in costs)
    width, height = 240, 40
    points: list[str] = []
    before: float | None = None
    for seconds, cost in costs:
        x, y = width * seconds / end, 2 + (height - 4) * (high / 2 - cost / 2) / max(high / 2 - low / 2, 1e-300)
        points += [f"{x:.1f},{before:.1f}"] if before is not None else []
        points.append(f"{x:.1f},{y:.1f}")
        before = y
    points.append(f"{width},{before:.1f}")
    line = f'<polyline points="{" ".join(points)}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    return (
        f'<div style="margin-top:.5em;opacity:.8"><svg width="{width}" height="{height}" role="img" '
        f'aria-label="best cost against time">{line}</svg>'
        f'<div style="font-size:.85em;opacity:.8">best cost from {number(costs[0][1])} to {number(costs[-1][1])} '
        f"in {end:.3g} s</div></div>"
    )
