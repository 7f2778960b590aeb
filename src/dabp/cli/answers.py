"""How answers are printed: for people, as one JSON object, or in the layout of another program."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dabp.cli.display import print_comparison, print_summary

if TYPE_CHECKING:
    from dabp.driver.result import Result
    from dabp.problem import Problem


@dataclass(frozen=True)
class Telling:
    """What the user wants to see."""

    as_json: bool
    quiet: bool
    verbose: bool
    several: bool
    """Whether several files were given."""

    probabilities: bool
    """Whether costs are negated logarithms of probabilities."""

    cuts: bool
    """Whether costs that are maximised are weights of cuts."""

    layout: str | None
    """The format whose layout answers have, ``maxsat`` or ``pydcop``; None for ours."""

    @classmethod
    def of(cls, files: list[str], format: str | None, *, as_json: bool, quiet: bool, verbose: bool) -> Telling:
        """What options and files ask for."""
        from dabp.formats import format_of

        lines = [format_of(file, format) for file in files]
        layout = format if format in ("maxsat", "pydcop") and not as_json else None
        return cls(
            as_json=as_json,
            quiet=quiet or layout is not None,
            verbose=verbose,
            several=len(files) > 1,
            probabilities=all(line.probabilities for line in lines),
            cuts=all(line.cuts for line in lines),
            layout=layout,
        )

    def show(self, rows: list[tuple[Problem, Result]]) -> None:
        """Print the answers; with several files JSON has a list of them, however many were solved."""
        if self.as_json:
            facts = [self._facts(problem, result) for problem, result in rows]
            print(json.dumps({"results": facts} if self.several else facts[0], allow_nan=False))
        elif self.layout == "maxsat":
            from dabp.formats.wcnf import as_maxsat

            for problem, result in rows:
                print(as_maxsat(result.assignment, problem, result.cost, result.status.value), end="")
        elif self.layout == "pydcop":
            from dabp.formats.solution import as_pydcop

            for problem, result in rows:
                print(as_pydcop(result, problem), end="")
        elif len(rows) == 1:
            print_summary(*rows[0], measure=self._measure(rows[0][0]))
        else:
            print_comparison(rows)

    def _measure(self, problem: Problem) -> str:
        """What the problem's cost is called: ``cost``, ``cut`` or ``ln probability`` (which is its negative)."""
        if self.probabilities and not problem.maximize:
            return "ln probability"
        return "cut" if self.cuts and problem.maximize else "cost"

    def _facts(self, problem: Problem, result: Result) -> dict[str, Any]:
        """The result as JSON values, its cost also under its own name."""
        facts, measure = result.to_dict(problem), self._measure(problem)
        if measure == "ln probability":
            facts["log_probability"] = None if result.cost is None else -result.cost
        elif measure == "cut":
            facts["cut"] = result.cost
        return facts
