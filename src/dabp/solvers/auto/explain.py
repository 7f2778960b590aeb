"""What the portfolio did, in a few lines for the summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.member import Member
from dabp.solvers.auto.prover import Prover


def explain(
    incumbent: Incumbent, members: Iterable[Member], notes: Iterable[str], prover: Prover | None
) -> Iterator[str]:
    """Who found the answer and when, who improved it, who gave the bound, where the time went."""
    if incumbent.finds:
        last = incumbent.finds[-1]
        when = f" after {last.time:.2f} s" if last.time else ""
        yield f"{last.member} found the answer{when}"
        wins: dict[str, int] = {}
        for find in incumbent.finds:
            wins[find.member] = wins.get(find.member, 0) + 1
        if len(wins) > 1:
            yield "improvements: " + ", ".join(f"{name} {count}" for name, count in wins.items())
    if incumbent.bound_by:
        yield f"{incumbent.bound_by} {'proved it' if incumbent.proved else 'gave the bound'}"
    spent = [(member.seconds, member.kind.name) for member in members if member.seconds >= 0.05]
    if spent:
        yield "time: " + ", ".join(f"{name} {seconds:.1f} s" for seconds, name in sorted(spent, reverse=True))
    if prover is not None and prover.note:
        yield prover.note
    yield from notes
