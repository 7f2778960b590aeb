"""Rosters against CP-SAT, which CPMpy brings along: feasible ones by cost, others by how many persons are missing.

    python -m benchmarks.rosters feasible --count 10 --seconds 20
    python -m benchmarks.rosters missing --count 10 --seconds 20

A nurse has a shift or a day off each day, no early shift after a late one, at most five shifts a week and wishes;
each day needs so many nurses for each shift. CP-SAT has two workers and the same seconds.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass

import cpmpy

import dabp
from dabp.problem.constraints import hard_constraints

SHIFTS = ("early", "late", "night", "off")
TIRING = (("night", "early"), ("night", "late"), ("late", "early"))


@dataclass(frozen=True)
class Roster:
    """What is needed, allowed and wished."""

    nurses: int
    days: int
    need: tuple[tuple[int, int, int], ...]
    """Nurses for each shift of each day."""
    wishes: tuple[tuple[int, ...], ...]
    """What each value costs each nurse on each day, nurse by nurse."""
    most: int = 5
    """Shifts a week."""


def drawn(seed: int, *, feasible: bool) -> Roster:
    """A random roster of 8 to 30 nurses and 14 to 28 days; one that is not feasible needs more than there are."""
    rng = random.Random(seed)
    nurses, days = rng.choice([8, 12, 16, 20, 25, 30]), rng.choice([14, 21, 28])
    share = rng.uniform(0.5, 0.62) if feasible else rng.uniform(0.75, 0.9)
    need = []
    for _ in range(days):
        total = round(share * nurses + rng.uniform(-1, 1))
        early, late = round(0.4 * total), round(0.35 * total)
        need.append((early, late, max(0, total - early - late)))
    wishes = tuple(tuple(rng.choice([0, 0, 0, 1, 2, 5]) for _ in SHIFTS) for _ in range(nurses * days))
    return Roster(nurses, days, tuple(need), wishes)


def model_of(roster: Roster) -> dabp.Model:
    """The roster with our vocabulary."""
    model = dabp.Model("roster")
    cells = [[f"n{n}d{d}" for d in range(roster.days)] for n in range(roster.nurses)]
    for n, row in enumerate(cells):
        model.add_variables(row, SHIFTS)
        for d, name in enumerate(row):
            model.add_cost(name, dict(zip(SHIFTS, roster.wishes[n * roster.days + d], strict=True)))
        for d in range(roster.days - 1):
            model.forbid(row[d : d + 2], TIRING, name=f"rest of nurse {n} after day {d}")
        for start in range(0, roster.days, 7):
            model.at_most(row[start : start + 7], SHIFTS[:3], roster.most, name=f"nurse {n} in week {start // 7}")
    for d, need in enumerate(roster.need):
        for shift, count in zip(SHIFTS, need, strict=False):
            model.at_least([row[d] for row in cells], shift, count, name=f"day {d} {shift}")
    return model


def peer(roster: Roster, seconds: float, *, missing: bool) -> tuple[str, float | None, float | None]:
    """CP-SAT's status, cost and bound; with `missing` the cost is the persons that are missing, all else hard."""
    from cpmpy.solvers.ortools import CPM_ortools

    x = cpmpy.intvar(0, 3, shape=(roster.nurses, roster.days))
    model = cpmpy.Model()
    short = []
    for n in range(roster.nurses):
        for d in range(roster.days - 1):
            for first, second in TIRING:
                model += ~((x[n, d] == SHIFTS.index(first)) & (x[n, d + 1] == SHIFTS.index(second)))
        for start in range(0, roster.days, 7):
            model += sum(x[n, start : start + 7] != 3) <= roster.most
    for d, need in enumerate(roster.need):
        for shift, count in enumerate(need):
            if missing:
                short.append(cpmpy.intvar(0, max(1, count)))
                model += sum(x[:, d] == shift) + short[-1] >= count
            else:
                model += sum(x[:, d] == shift) >= count
    costs = [
        cost * (x[n, d] == shift)
        for n in range(roster.nurses)
        for d in range(roster.days)
        for shift, cost in enumerate(roster.wishes[n * roster.days + d])
        if cost
    ]
    model.minimize(sum(short) if missing else sum(costs))
    solver = CPM_ortools(model)
    solver.solve(time_limit=seconds, num_search_workers=2)
    found = solver.status().exitstatus.name
    return found, solver.objective_value(), solver.ort_solver.BestObjectiveBound()


def feasible(seed: int, seconds: float) -> None:
    """One line: cost and bound of both."""
    roster = drawn(seed, feasible=True)
    ours = dabp.solve(model_of(roster), time_limit=seconds)
    theirs = peer(roster, seconds, missing=False)
    print(
        f"{seed:3} {roster.nurses:3} nurses {roster.days} days  dabp {ours.status.value:10} {ours.cost} "
        f"(bound {ours.bound}) {ours.runtime:.1f} s   CP-SAT {theirs[0]} {theirs[1]} (bound {theirs[2]:.0f})",
        flush=True,
    )


def missing(seed: int, seconds: float) -> None:
    """One line: persons that are missing; other constraints are dearer than all of them."""
    roster = drawn(seed, feasible=False)
    model = model_of(roster)
    names = [one.name for one in hard_constraints(model.build())]
    prices = {name: float("inf") for name in names if not name.startswith("day ")}
    ours = dabp.solve(model, time_limit=seconds, relax=prices)
    theirs = peer(roster, seconds, missing=True)
    note = next((note for note in ours.notes if "violated" in note), "")
    print(
        f"{seed:3} {roster.nurses:3} nurses {roster.days} days  dabp {ours.status.value} {note.split(':')[0]} "
        f"{ours.runtime:.1f} s   CP-SAT {theirs[0]} {theirs[1]}",
        flush=True,
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["feasible", "missing"])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    for seed in range(options.first, options.first + options.count):
        (feasible if options.kind == "feasible" else missing)(seed, options.seconds)


if __name__ == "__main__":
    main()
