"""Small runs of every solver that call every kernel with every type of argument, for a build to compile them all.

Kernels differ by single and double precision, by the length of vectors, by binary and larger factors, by forbidden
combinations, by domains of two values and by the size from which threads and other layouts are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.registry import make_solver

ITERATIONS = 24
"""Iterations of each small solve: every kernel is called, and DABP has a window."""


def _drawn(
    domain: int, *, seed: int = 0, ternary: bool = False, forbidden: bool = False, real: bool = False
) -> Problem:
    """A small connected problem with a cycle and unary factors."""
    rng = np.random.default_rng(0)
    count = 6
    scopes: list[tuple[int, ...]] = [(i,) for i in range(count)]
    scopes += [(i, j) for i in range(count) for j in range(i)]
    scopes += [(0, 2, 4), (1, 3, 5)] if ternary else []
    tables = []
    for scope in scopes:
        table = rng.integers(0, 50, (domain,) * len(scope)).astype(float)
        table += rng.random(table.shape) if real else 0.0
        if forbidden and len(scope) > 1:
            table[(0,) * len(scope)] = np.inf
        tables.append((scope, table))
    return Problem.from_tables([domain] * count, tables)


def _mixed() -> Problem:
    """Domains of different sizes, up to more than a vector is long."""
    rng = np.random.default_rng(1)
    sizes = [2, 3, 20, 5, 9]
    scopes = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 3), (0, 2, 4)]
    return Problem.from_tables(sizes, [(s, rng.integers(0, 9, [sizes[v] for v in s]) * 1.0) for s in scopes])


def _kinds() -> list[Problem]:
    return [
        _drawn(3, ternary=True),
        _drawn(12, ternary=True),
        _drawn(4, forbidden=True, ternary=True),
        _drawn(5, forbidden=True),
        _drawn(4, real=True),
        _drawn(2),
        _drawn(2, real=True),
        _mixed(),
    ]


def _run(names: Iterable[str], problems: Iterable[Problem] | None = None, **params: Any) -> None:
    """Run solvers for some iterations on every kind of problem, from a start, with one and two threads."""
    _sort()
    for problem in _kinds() if problems is None else problems:
        for name in names:
            for threads in (1, 2):
                solver = make_solver(name, params)
                budget = Budget(max_iterations=ITERATIONS, threads=threads)
                search = solver.start(problem, seed=0, budget=budget, initial=np.zeros(problem.num_variables, np.int64))
                try:
                    done = 0
                    while done < ITERATIONS:
                        step = search.step()
                        done += max(1, len(step.costs))
                        if step.finished is not None:
                            break
                finally:
                    search.close()


def _chain(count: int, domain: int, *, closed: bool = False) -> Problem:
    table = np.arange(float(domain * domain)).reshape(domain, domain)
    links = count if closed else count - 1
    return Problem.from_tables([domain] * count, [((i, (i + 1) % count), table) for i in range(links)])


def _permutation(*, real: bool = False) -> Problem:
    size = 6
    pairs = [(i, j) for i in range(size) for j in range(i)]
    table = np.arange(float(size * size)).reshape(size, size) * (0.3 if real else 1.0)
    np.fill_diagonal(table, np.inf)
    return Problem.from_tables([size] * size, [(pair, table) for pair in pairs])


def _quadratic_assignment(size: int) -> Problem:
    """Five places with products of flows and distances up to a size."""
    numbers = np.random.default_rng(0).integers(1, size, (2, 5, 5)) * 1.0
    pairs = [(i, j) for i in range(5) for j in range(i)]
    forbidden = np.where(np.eye(5) > 0, np.inf, 0.0)
    return Problem.from_tables([5] * 5, [(pair, numbers[0][pair] * numbers[1] + forbidden) for pair in pairs])


def _worth_threads() -> Iterator[Problem]:
    """Problems large enough for threads: vectors of every length, in single and in double precision."""
    from dabp.solvers.belief_propagation.engine import WORTH_THREADS

    rng = np.random.default_rng(0)
    for domain, forbidden in ((2, False), (4, False), (8, False), (16, False), (4, True), (8, True)):
        count = int(1.2 * WORTH_THREADS / domain**2 / 3)
        tables = rng.integers(0, 99, (3 * count, domain, domain)) * 1.0  # each its own: equal ones are kept once
        if forbidden:
            tables[:, 0, 0] = np.inf
        links = [(i, (i + step) % count) for i in range(count) for step in (1, 2, 5)]
        pairs = list(zip(links, tables, strict=True))
        yield Problem.from_tables([domain] * count, pairs)


def _sort() -> None:
    """Sorting of scope entries by variable on large problems, and the classes of local search."""
    from dabp.graph.grouping import FEW, grouped
    from dabp.solvers.local_costs.colouring import coloured

    grouped(np.zeros(FEW + 1, dtype=np.int64), 1)
    coloured(_chain(3, 2))


def _presolve() -> None:
    from dabp.presolve import presolve

    _sort()
    for problem in (*_kinds(), _chain(7, 3)):
        presolved = presolve(problem)
        presolved.lift(np.zeros(presolved.problem.num_variables, dtype=np.int64))


def _elimination() -> None:
    from dabp.graph.elimination_order import DENSE_LIMIT, elimination_order
    from dabp.problem.guard import Guard
    from dabp.solvers.elimination.best_answers import BestAnswers

    for problem in (*_kinds(), _chain(DENSE_LIMIT + 10, 2, closed=True)):
        elimination_order(problem, widest=3)
    _run(["mbe"])
    _run(["mbe"], i_bound=1)
    answers = BestAnswers(_chain(5, 3), Guard())
    answers.planned()
    next(iter(answers))
    _run(["neighbourhood"], min_cells=1, challenge_cells=1, max_cells=4)


def _following() -> None:
    copied, added = np.full((2, 2), np.inf), np.full((2, 2, 3), np.inf)
    copied[[0, 1], [0, 1]] = 0.0
    added[np.indices((2, 2))[0], np.indices((2, 2))[1], np.indices((2, 2)).sum(axis=0)] = 0.0
    tables = [((0, 1), copied), ((1, 2, 3), added), ((3,), np.arange(3.0))]
    make_solver("annealing-free").start(Problem.from_tables([2, 2, 2, 3], tables), seed=0, budget=Budget()).step()


def _belief_propagation() -> None:
    from dabp.graph import FactorGraph
    from dabp.kernels.belief_propagation.message_arrays import Rules
    from dabp.solvers.belief_propagation.engine import MinSum

    _run(["bp", "dbp-scfg", "bp-reinforced"])
    _run(["bp"], [_chain(7, 3)])
    problems = list(_worth_threads())
    _run(["bp-reinforced"], problems)
    for problem in problems:  # factors are priced in one way if many values change, in another if few do
        engine = MinSum(problem, FactorGraph.from_problem(problem), threads=2)
        engine.reset(0.0)
        engine.run(1, Rules())
        engine.price(1)
        engine.close()


def _soft_belief_propagation() -> None:
    _run(["bp"], temperature=1.0)
    _run(["bp"], _worth_threads(), temperature=1.0)
    _run(["bp-learned"], [_drawn(3)], local_search=False)  # the descent from its runs' answers


def _annealing(*problems: Problem) -> None:
    """Annealing, the descent to the first answer of `auto`, and the components that toulbar2 is given."""
    from dabp.graph.components import component_labels
    from dabp.problem.guard import Guard
    from dabp.solvers.descent import descended

    for problem in problems:
        component_labels(problem)
        descended(problem, np.zeros(problem.num_variables, dtype=np.int64), Guard())
    _run(["annealing"], problems)


def _large_annealing() -> None:
    from dabp.problem.guard import Guard
    from dabp.solvers.local_costs.colouring import coloured
    from dabp.solvers.local_costs.shared_tables import table_of

    _sort()
    for problem in (_drawn(3), _drawn(4, real=True), _drawn(2), _drawn(2, real=True)):
        table = table_of(problem, Guard(), coloured(problem))
        state, lowest = table.state(0), np.zeros(2, dtype=np.int64)
        table.put(state, np.zeros(problem.num_variables, dtype=np.int64))
        noise = table.noise(np.random.default_rng(0))
        table.sweep(state, noise, np.ones(2), lowest)


def _dual() -> None:
    """Passes of all kinds; on a large problem in single precision."""
    from dabp.solvers.dual.pair_passes import WORTH_THREADS, PairPasses

    _run(["dual"])
    chain = _chain(WORTH_THREADS // 16 + 2, 8)
    _run(["dual"], [chain, chain.replace(pool=chain.pool / 3)])  # which single precision holds, and which it rounds
    for problem in (chain, _chain(3, 8)):
        passes = PairPasses(problem)
        passes.excess(np.zeros(problem.num_variables, dtype=np.int64))
        passes.certified()


def _assignment() -> None:
    from dabp.kernels.assignment.pairs import restrict

    pairs, cells = np.zeros((3,) * 4, dtype=np.int64), np.zeros((3, 3), dtype=np.int64)
    restrict(pairs, cells, 0, 0, pairs[:2, :2, :2, :2].copy(), cells[:2, :2].copy())
    _run(["assignment"], [_permutation()])
    _run(["assignment"], [_permutation()], largest=0)


def _whole() -> list[Problem]:
    """The kinds on which local search works with integers of 32 bits in padded rows."""
    return [_drawn(3, ternary=True), _drawn(12, ternary=True), _drawn(4, forbidden=True, ternary=True), _mixed()]


JOBS: dict[str, Callable[[], None]] = {
    "annealing": lambda: _annealing(*_whole(), _permutation()),
    "annealing-wide": lambda: _annealing(_drawn(4, real=True), _permutation(real=True)),
    "annealing-binary": lambda: _annealing(_drawn(2), _drawn(2, real=True)),
    "tabu": lambda: _run(["tabu"]),
    "robust-tabu": lambda: _run(["robust-tabu"], [_permutation(), _quadratic_assignment(10**6)], length=2),
    "following": _following,
    "annealing-large": _large_annealing,
    "bp": _belief_propagation,
    "bp-soft": _soft_belief_propagation,
    "dual": _dual,
    "assignment": _assignment,
    "semidefinite": lambda: _run(["semidefinite"], [_drawn(2), _chain(9, 2)]),
    "expansion": lambda: _run(["expansion"]),
    "presolve": _presolve,
    "elimination": _elimination,
    "distributed": lambda: _run(["dsa", "mgm", "mgm2", "gdba"]),
    "dabp": lambda: _run(["dabp"]),
    "gat-pcm-lns": lambda: _run(["gat-pcm-lns"]),
}
"""Runs by name; each compiles the kernels of one family of methods."""

CHAINS = (
    ("bp",),
    ("bp-soft",),
    ("dabp",),
    ("tabu", "robust-tabu", "distributed"),
    ("annealing", "annealing-wide", "annealing-binary", "annealing-large", "following"),
    ("presolve", "elimination"),
    ("dual",),
    ("gat-pcm-lns",),
    ("expansion", "semidefinite", "assignment"),
)
"""All jobs: those that share kernels in one chain, for one process; the longest chain first."""
