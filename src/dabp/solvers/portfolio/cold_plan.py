"""The numbers that decide what `auto` does on a machine whose kernels are not compiled yet (`cold_search`)."""

from __future__ import annotations

COLD_MEMBERS = {
    "annealing": ("annealing",),
    "annealing 2": ("annealing",),
    "tabu": ("annealing", "tabu"),
    "tabu 2": ("annealing", "tabu"),
    "bp-reinforced": ("annealing", "bp"),
    "bp-learned": ("annealing", "bp", "bp-soft", "forest-lns"),
    "bp-cooled": ("annealing", "bp"),
    "cooling": ("annealing",),
    "opening": ("annealing",),
    "following": ("annealing", "following"),
    "bp-split": ("annealing", "bp"),
    "dual": ("annealing", "dual"),
    "expansion": ("annealing", "expansion"),
    "windows": ("annealing", "dual", "expansion"),
    "forest-lns": ("annealing", "forest-lns"),
}
"""The members by the parts of the kernels that must be there before they can join (see `warming.JOBS`)."""

COLD_PREPARATION = ("presolve", "elimination")
"""Parts that must be there too before a solve prepares the problem as usual; compiled last."""

COLD_CELLS, COLD_FACTORS, COLD_ENTRIES = 20_000_000, 300_000, 2_000_000
"""The largest problem that BP in NumPy is given, and costs that a sweep of annealing in NumPy may gather at most."""

COLD_SETUP, COLD_SETUP_SECONDS, COLD_LEAD = 0.1, 5e-7, 3.0
"""Part of the time left that laying out the tables for annealing may take, seconds that such a cost takes, and how many
times the others' share the one of them has that found the best answer."""

COLD_TRIAL, COLD_TRIAL_SECONDS = 0.2, 1.0
"""Part of the time, but no less than these seconds, that toulbar2 has for a proof; what compiles needs the core."""
