"""What the race of `benchmarks.learning` came to: `bp-learned` beside each opponent, instance by instance."""

from __future__ import annotations

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.learning_kinds import EVERY, HELD_OUT, JUDGED

Costs = dict[tuple[str, int], float]
"""By kind and instance."""

OPPONENTS = ("best static", "bp-reinforced", "annealing", "tabu", "bp-learned, local search off")

GROUPS = {
    "all but ising": list(JUDGED),
    "300 variables and more": [kind for kind in JUDGED if not kind.endswith(" 100")],
    "held out: small-world, ising": [kind for kind in EVERY if kind in HELD_OUT or kind.startswith("small-world")],
}
"""What is judged as one."""


def race_tables(costs: dict[str, Costs], ours: str, seconds: float) -> None:
    """Print how often `ours` is better, equal and worse than each opponent: groups of kinds, then each kind."""
    every = dict(costs)
    mine = every.pop(ours)
    statics = [name for name in every if name.startswith("static")]
    common = [key for key in mine if all(key in every[name] for name in statics)]
    every["best static"] = {key: min(every[name][key] for name in statics) for key in common}
    best = {key: min(known[key] for known in (mine, *every.values()) if key in known) for key in mine}
    for title, groups, cell in (
        (
            "better / equal / worse than, part of those not tied at the best known cost, p of Wilcoxon's test on "
            "relative differences",
            GROUPS,
            _judged,
        ),
        ("better / equal / worse than (mean relative difference)", {kind: [kind] for kind in EVERY}, _counted),
    ):
        print(f"\n{seconds:g} s: {title}\n")
        print("| kind | " + " | ".join(OPPONENTS) + " |\n| --- |" + " --- |" * len(OPPONENTS))
        for label, kinds in groups.items():
            keys = [key for key in mine if key[0] in kinds]
            cells = [cell(mine, every[name], best, [key for key in keys if key in every[name]]) for name in OPPONENTS]
            if keys:
                print(f"| {label} | {' | '.join(cells)} |")


def _differences(mine: Costs, theirs: Costs, keys: list[tuple[str, int]]) -> np.ndarray:
    pairs = np.array([(mine[key], theirs[key]) for key in keys])
    differences: np.ndarray = (pairs[:, 0] - pairs[:, 1]) / np.maximum(np.abs(pairs).min(axis=1), 1e-12)
    return differences


def _counted(mine: Costs, theirs: Costs, best: Costs, keys: list[tuple[str, int]]) -> str:
    if not keys:
        return "–"
    difference = _differences(mine, theirs, keys)
    wins, losses = int((difference < 0).sum()), int((difference > 0).sum())
    return f"{wins} / {len(keys) - wins - losses} / {losses} ({100 * difference.mean():+.2f} %)".replace("-", "−")


def _judged(mine: Costs, theirs: Costs, best: Costs, keys: list[tuple[str, int]]) -> str:
    if not keys:
        return "–"
    difference = _differences(mine, theirs, keys)
    tied = sum(mine[key] <= best[key] and theirs[key] <= best[key] for key in keys)
    p = wilcoxon(difference).pvalue if (difference != 0).any() else 1.0
    share = 100 * int((difference < 0).sum()) / max(1, len(keys) - tied)
    return f"{_counted(mine, theirs, best, keys)}: {share:.0f} %, p = {p:.2g}"
