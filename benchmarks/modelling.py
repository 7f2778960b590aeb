"""How long building a problem, and solving one after another, takes: ``python -m benchmarks.modelling``.

80,000 binary factors over 40,000 variables of 16 values, as one table, as few tables with an index, as a table for each
(equal ones stored once), as an image, and one by one as a loop in Python would add them.

A stream: 1,000 problems of 50 variables that differ in their costs. What a solve takes beyond its search is the time of
one with 20 iterations, less 20 times what an iteration more takes (from one with 220); medians of CPU time, and the
tenth percentile, which a busy machine disturbs less.

Statements: the time to state and build them, the auxiliary variables and costs that they need, and what completing an
assignment takes. A roster that cannot be: the time to the fewest violations and to a minimal conflict, both proved.

``python -m benchmarks.modelling building`` (or ``streams``, ``statements``, ``infeasible``) runs one part alone.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import dabp

SIDE, LABELS, REPEATS = 200, 16, 5
STREAM, FEW, MANY = 1000, 20, 220


def pairs() -> np.ndarray:
    """Neighbours of a square image, [m, 2]."""
    pixels = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    right = np.stack([pixels[:, :-1].ravel(), pixels[:, 1:].ravel()], axis=1)
    down = np.stack([pixels[:-1].ravel(), pixels[1:].ravel()], axis=1)
    return np.concatenate([right, down])


def model() -> dabp.Model:
    """A model with the variables only."""
    made = dabp.Model()
    made.add_variables((f"x{i}" for i in range(SIDE * SIDE)), LABELS)
    return made


def timed(what: str, action: Callable[[dabp.Model], None]) -> None:
    """Print the median of several times, and how many costs the problem stores."""
    seconds, problem = [], None
    for _ in range(REPEATS):
        made = model()
        start = time.process_time()
        action(made)
        seconds.append(time.process_time() - start)
        problem = made.build()
    assert problem is not None
    print(f"{what:38s} {statistics.median(seconds):8.3f} s of CPU   {len(problem.pool):>12,} costs stored")


def cpu(action: Callable[[], object]) -> tuple[float, object]:
    """Milliseconds of CPU, and what came of it."""
    start = time.process_time()
    made = action()
    return 1e3 * (time.process_time() - start), made


def stream(solver: str) -> None:
    """Print what a solve of a stream takes beyond its search."""
    problem = dabp.generate("random-cop", variables=50, domain=5, density=0.1, seed=0)
    rng = np.random.default_rng(0)
    dabp.solve(problem, solver, max_iterations=FEW)
    times = []
    for _ in range(STREAM):
        costs = rng.integers(0, 100, len(problem.pool)).astype(float)
        building, changed = cpu(lambda costs=costs: problem.with_costs(costs))
        few, _ = cpu(lambda changed=changed: dabp.solve(changed, solver, max_iterations=FEW))
        many, _ = cpu(lambda changed=changed: dabp.solve(changed, solver, max_iterations=MANY))
        times.append((building, few, many))
    for what, part in (("median", 50), ("tenth percentile", 10)):
        building, few, many = np.percentile(np.array(times), part, axis=0).tolist()
        beyond = building + few - FEW * (many - few) / (MANY - FEW)
        print(f"stream, {solver:10s} {what:18s} {beyond:6.2f} ms beyond the search, {building + few:6.2f} ms in all")


def streams() -> None:
    """Streams with several solvers."""
    for solver in ("bp", "dbp", "tabu"):
        stream(solver)


def stated(what: str, count: int, values: int, state: Callable[[dabp.Model, list[str]], None]) -> None:
    """Print what a statement over so many variables takes."""
    made = dabp.Model()
    names = made.add_variables((f"x{i}" for i in range(count)), values)
    building, problem = cpu(lambda: (state(made, names), made.build())[1])
    assert isinstance(problem, dabp.Problem)
    row = np.random.default_rng(0).integers(0, values, count)
    problem.cost(row)
    costing = statistics.median(cpu(lambda: problem.cost(row))[0] for _ in range(20))
    hidden, costs = f"{problem.auxiliaries.count:,} auxiliary variables", f"{len(problem.pool):,} costs"
    print(f"{what:38s} {building:8.1f} ms of CPU, {hidden}, {costs}; cost of an assignment {costing:.2f} ms")


def statements() -> None:
    """Statements from small to large."""
    weights = np.random.default_rng(0).integers(1, 30, 40).tolist()
    stated("all_different, 100 of 100 values", 100, 100, lambda made, names: made.all_different(names))
    stated("at_most 3 of 1,000, 1,000 values", 1000, 1000, lambda made, names: made.at_most(names, 0, 3))
    stated("exactly 50 of 100, 10 values", 100, 10, lambda made, names: made.exactly(names, 0, 50))
    stated(
        "linear, 40 items, a sum of at most 300",
        40,
        2,
        lambda made, names: made.linear(dict(zip(names, weights, strict=True)), "<=", 300),
    )


def roster(people: int, days: int) -> dabp.Model:
    """One shift a day, everybody at most twice, two more days than that."""
    made = dabp.Model("roster")
    names = made.add_variables((f"day{i}" for i in range(days)), [f"p{i}" for i in range(people)])
    for person in range(people):
        made.at_most(names, f"p{person}", (days - 2) // people, name=f"p{person} rests")
    for first, second in itertools.pairwise(names):
        made.forbid([first, second], lambda a, b: a == b, name=f"{first} and {second}")
    return made


def infeasible() -> None:
    """A roster relaxed, and its conflict."""
    made = roster(4, 14)
    dabp.solve(made, relax=True)  # loads the kernels
    start = time.perf_counter()
    relaxed = dabp.solve(made, relax=True)
    between = time.perf_counter()
    found = dabp.conflict(made)
    end = time.perf_counter()
    assert relaxed.violated is not None
    assert found is not None
    print(f"relaxed roster  {between - start:6.2f} s, {relaxed.status.value}, violated: {', '.join(relaxed.violated)}")
    print(f"its conflict    {end - between:6.2f} s, {len(found.constraints)} constraints, minimal: {found.minimal}")


def building() -> None:
    """All ways to add many factors."""
    scopes = pairs()
    apart = np.abs(np.subtract.outer(np.arange(LABELS), np.arange(LABELS)))
    few = np.stack([weight * np.minimum(apart, 2.0) for weight in (10.0, 20.0)])
    index = np.random.default_rng(0).integers(0, 2, len(scopes))
    timed("add_costs, one table", lambda made: made.add_costs(scopes, few[0]))
    timed("add_costs, two tables and an index", lambda made: made.add_costs(scopes, few, index))
    each = few[index]
    timed("add_costs, a table for each", lambda made: made.add_costs(scopes, each))
    names = [(f"x{i}", f"x{j}") for i, j in scopes.tolist()]

    def one_by_one(made: dabp.Model) -> None:
        for scope, number in zip(names, index.tolist(), strict=True):
            made.add_cost(scope, few[number])

    timed("add_cost, one by one", one_by_one)
    unary = np.random.default_rng(1).integers(0, 20, (SIDE, SIDE, LABELS))
    start = time.process_time()
    problem = dabp.Problem.grid(unary, "truncated-linear", cap=2, weights=10.0)
    print(f"{'Problem.grid':38s} {time.process_time() - start:8.3f} s of CPU   {len(problem.pool):>12,} costs stored")


PARTS = {"building": building, "statements": statements, "infeasible": infeasible, "streams": streams}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
