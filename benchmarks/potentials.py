"""What the reduced costs of a dual are worth to the searches that find answers.

``python -m benchmarks.potentials [--variables 100] [--instances 3] [--passes 60]`` moves the costs of each factor of
two variables into its variables' own as far as a dual ascent does (a reparametrisation: every assignment costs what it
did), in whole numbers, and solves both problems with the same seeds and the same iterations.

Local search sees only what a value of a variable costs more than another while the others stay: Σ_j T_ij(a, x_j) −
Σ_j T_ij(b, x_j) is the same for both problems, so that every move, temperature and answer is. Messages of belief
propagation differ: to begin with none on the new problem is to begin with the dual's on the old one.
"""

from __future__ import annotations

import argparse

import numpy as np

import dabp
from dabp.problem import Problem

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")
SOLVERS = {"annealing": 3_000, "tabu": 3_000, "bp-reinforced": 4_000, "bp-learned": 3_000}
"""Iterations of each."""

FIRST = 34_001
SCALE = 100.0
"""Costs are rounded to this part of one, so that potentials are whole numbers."""


def rounded(problem: Problem) -> Problem:
    """The same problem in whole numbers."""
    return _with(problem, np.rint(SCALE * problem.pool))


def reduced(problem: Problem, passes: int) -> tuple[Problem, float]:
    """Costs after a dual ascent, and the bound that each variable and factor at its least gives.

    A pass hands, factor after factor, half of what both ends add to a table back to each end (MPLP, Globerson &
    Jaakkola 2007): M(a) = min_b [u_i(a) + T(a, b) + u_j(b)] / 2 becomes the own cost of i, and the rest stays with T.
    """
    pairs = problem.scope_variables.reshape(-1, 2)
    starts = problem.pool_offsets[problem.factor_table]
    shapes = problem.domain_sizes[pairs]
    tables = [
        problem.pool[start : start + size[0] * size[1]].reshape(size).copy()
        for start, size in zip(starts, shapes, strict=True)
    ]
    own = [np.zeros(size) for size in problem.domain_sizes]
    for _ in range(passes):
        for table, (i, j) in zip(tables, pairs.tolist(), strict=True):
            table += own[i][:, None] + own[j][None, :]
            own[i] = np.floor(table.min(axis=1) / 2)
            own[j] = np.floor(table.min(axis=0) / 2)
            table -= own[i][:, None] + own[j][None, :]
    bound = sum(float(costs.min()) for costs in [*own, *tables])
    count = problem.num_variables
    arities = np.concatenate([np.full(len(tables), 2), np.ones(count, dtype=np.int64)])
    blocks = [*tables, *own]
    changed = Problem(
        problem.domain_sizes,
        np.concatenate([pairs.ravel(), np.arange(count)]),
        np.concatenate([[0], np.cumsum(arities)]),
        np.concatenate([block.ravel() for block in blocks]),
        np.concatenate([[0], np.cumsum([block.size for block in blocks])]),
    )
    return changed, bound


def _with(problem: Problem, pool: np.ndarray) -> Problem:
    return Problem(
        problem.domain_sizes,
        problem.scope_variables,
        problem.scope_offsets,
        pool,
        problem.pool_offsets,
        problem.factor_table,
    )


def main() -> None:
    """Print each solver's costs on both problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=100)
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--passes", type=int, default=60)
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    options = parser.parse_args()
    print(
        "| problem | bound of tables, of potentials | solver | as it is | with reduced costs | change, % |\n| --- |"
        + " --- |" * 5
    )
    for number in range(options.instances):
        for family in FAMILIES:
            problem = rounded(dabp.generate(family, variables=options.variables, seed=FIRST + number))
            changed, bound = reduced(problem, options.passes)
            least = sum(float(problem.pool[a:b].min()) for a, b in zip(*_ends(problem), strict=True))
            for name in options.solvers:
                costs = [
                    float(dabp.solve(each, name, max_iterations=SOLVERS[name], seed=number).cost)
                    for each in (problem, changed)
                ]
                change = 100.0 * (costs[1] / costs[0] - 1.0)
                bounds = f"{least / SCALE:.0f}, {bound / SCALE:.0f}"
                values = f"{costs[0] / SCALE:.2f} | {costs[1] / SCALE:.2f} | {change:+.3f}"
                print(f"| {family} {FIRST + number} | {bounds} | {name} | {values} |", flush=True)


def _ends(problem: Problem) -> tuple[list[int], list[int]]:
    starts = problem.pool_offsets[problem.factor_table].tolist()
    return starts, problem.pool_offsets[problem.factor_table + 1].tolist()


if __name__ == "__main__":
    main()
