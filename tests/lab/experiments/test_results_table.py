"""Tables and paired comparisons, checked against counting by hand and SciPy."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
import scipy.stats

from dabp.errors import ParameterError
from dabp.lab.experiments.experiment_plan import Limits, Plan, Run
from dabp.lab.experiments.results_table import FORMATS, compare, rows, seconds
from dabp.lab.experiments.store import Outcome, Results


def costs_of(results, group, label):
    plan = results.plan()
    found = [o for o in results.outcomes(plan) if o.run.group == group and o.run.label == label]
    return np.array([o.summary["cost"] / o.summary["constraints"] for o in found])


def test_rows_are_means_with_confidence_gap_and_failures(results):
    """Every number of a row, from the results themselves."""
    table = {(row.group, row.label): row for row in rows(results, results.plan())}
    assert len(table) == 8
    short, long = table["Random COPs", "short"], table["Random COPs", "long (steps=100)"]
    costs = costs_of(results, "Random COPs", "short")
    assert short.cost == pytest.approx(costs.mean())
    assert short.half == pytest.approx(scipy.stats.t.ppf(0.975, 5) * scipy.stats.sem(costs))
    assert short.gap == pytest.approx((short.cost - long.cost) / long.cost)
    assert (long.gap, long.best, short.best) == (0.0, True, False)
    broken = table["Colouring", "broken"]
    assert (broken.runs, broken.failed, broken.reasons) == (0, 3, "3 error")


def outcome(label: str, seed: int, cost: float | None, maximize: bool = False) -> Outcome:
    run = Run({"family": "f", "parameters": {}, "seed": seed}, label, {}, Limits(), seed, 0, "group", label)
    done = {"state": "done", "cost": cost, "constraints": 1, "runtime": 1.0, "cpu": 1.0, "maximize": maximize}
    return Outcome(run, done if cost is not None else {"state": "failed", "reason": "crash"})


class Given(Results):
    """Outcomes by hand, as `Results` gives them."""

    def __init__(self, *outcomes: Outcome):
        self._outcomes = list(outcomes)

    def outcomes(self, plan: Plan) -> list[Outcome]:
        return self._outcomes


def test_who_failed_on_hard_instances_is_not_the_best():
    """The mean over easy instances alone is neither bold nor a baseline."""
    given = Given(
        outcome("fails", 0, 1.0), outcome("fails", 1, None), outcome("answers", 0, 2.0), outcome("answers", 1, 8.0)
    )
    table = {row.label: row for row in rows(given, Plan("p", "p", ()))}
    assert (table["answers"].best, table["answers"].gap, table["fails"].best) == (True, 0.0, False)


def test_no_gap_to_a_best_cost_of_zero():
    """0.3 is not thirty thousand million per cent above nothing."""
    given = Given(outcome("zero", 0, 0.0), outcome("more", 0, 0.3))
    table = {row.label: row for row in rows(given, Plan("p", "p", ()))}
    assert table["zero"].gap == 0.0
    assert math.isnan(table["more"].gap)


def test_every_format_shows_every_row(results):
    """Text, CSV, Markdown and LaTeX of the same table; CSV at full precision."""
    table = rows(results, results.plan())
    lines = list(csv.DictReader(io.StringIO(FORMATS["csv"](table))))
    assert [(line["group"], line["solver"]) for line in lines] == [(row.group, row.label) for row in table]
    assert float(lines[0]["cost"]) == table[0].cost
    for name in ("text", "markdown", "latex"):
        text = FORMATS[name](table)
        assert text.count("long (steps=10)") == 2, name
        assert f"{table[0].cost:.3f}" in text
    assert r"$\pm$95 \%" in FORMATS["latex"](table)
    assert f"| **{min(row.cost for row in table[:3]):.3f}** |" in FORMATS["markdown"](table)


def test_comparison_pairs_instances(results):
    """Wins, draws, losses and p over instances that both answered."""
    found = compare(results, results.plan(), "long (steps=100)", "short")
    a, b = (np.concatenate([costs_of(results, g, label) for g in ("Random COPs", "Colouring")])
            for label in ("long (steps=100)", "short"))  # fmt: skip
    assert (found.wins, found.draws, found.losses) == ((a < b).sum(), (a == b).sum(), (a > b).sum())
    assert found.wins + found.draws + found.losses == 9
    assert found.test.p_value == pytest.approx(scipy.stats.wilcoxon(a, b, method="exact").pvalue)
    assert found.mean_difference == pytest.approx((a - b).mean())
    with pytest.raises(ParameterError, match="did you mean 'short'"):
        compare(results, results.plan(), "shart", "long (steps=10)")
    with pytest.raises(ParameterError, match="answered by both"):
        compare(results, results.plan(), "short", "broken")


def test_each_pair_is_compared_in_its_own_direction():
    """More is better where an instance maximises, whatever the last one does."""
    given = Given(
        *(outcome("a", seed, 5.0, maximize=seed < 2) for seed in range(5)),
        *(outcome("b", seed, 3.0, maximize=seed < 2) for seed in range(5)),
    )
    plan = Plan("p", "p", tuple(one.run for one in given.outcomes(Plan("p", "p", ()))))
    found = compare(given, plan, "a", "b")
    assert (found.wins, found.draws, found.losses) == (2, 0, 3)
    assert found.mean_difference == 2.0
    assert found.test.statistic == 6.0  # two of five equal ranks of 3


def test_seconds_are_readable():
    """From milliseconds to hours."""
    shown = [seconds(value) for value in (0.0123, 4.12, 42.4, 200.4, 7500, float("nan"))]
    assert shown == ["0.012 s", "4.1 s", "42 s", "3 m 20 s", "2 h 5 m", "–"]
