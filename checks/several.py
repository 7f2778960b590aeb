"""Several answers to many random small problems against enumeration: ``python -m checks.several --problems 500``.

Ties, forbidden combinations, maximised problems, mixed arities and auxiliary variables, with and without a distance.
Prints the seeds that differ, and ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import itertools
import sys

import numpy as np
from tests.problems import random_problem

import dabp
from dabp.problem import Problem


def drawn(seed: int) -> Problem:
    """A random problem; every third has a sum over its first variables, with auxiliary variables."""
    if seed % 3:
        return random_problem(seed, max_variables=6)
    rng = np.random.default_rng(seed)
    model = dabp.Model(maximize=bool(rng.integers(2)))
    names = model.add_variables([f"x{i}" for i in range(6)], 3)
    model.linear(dict(zip(names, rng.integers(1, 4, 6).tolist(), strict=True)), "<=", int(rng.integers(4, 20)))
    for first, second in itertools.combinations(names, 2):
        if rng.random() < 0.4:
            model.add_cost([first, second], rng.integers(0, 4, (3, 3)).astype(float))
    return model.build()


def wrong(seed: int) -> str:
    """What is wrong with the answers to a problem, or nothing."""
    problem, rng = drawn(seed), np.random.default_rng(seed)
    seen = problem.auxiliaries.num_visible
    distance = int(rng.integers(1, max(2, min(seen, 4))))
    answers = dabp.solve_several(problem, 5, distance=distance, threads=1)
    found = [each for each in answers if each.assignment is not None]
    rows = np.array(list(itertools.product(*(range(d) for d in problem.domain_sizes[:seen].tolist()))))
    costs = (-1.0 if problem.maximize else 1.0) * np.asarray(problem.cost(rows))
    allowed = np.isfinite(costs)
    if problem.limit is not None:
        allowed &= costs < (-problem.limit if problem.maximize else problem.limit)
    if not answers.proved:
        return "not proved"
    for each in [*found, None]:  # each is the best of what the earlier ones leave, whichever of equal ones they were
        best = costs[allowed].min(initial=np.inf)
        if each is None:
            return "" if len(found) == 5 or best == np.inf else f"ended before {best}"
        cost = -(each.cost or 0.0) if problem.maximize else each.cost or 0.0
        if not np.isclose(cost, best, rtol=1e-9, atol=1e-9):
            return f"{cost} instead of {best}"
        allowed &= (rows != np.asarray(each.assignment)[:seen]).sum(axis=1) >= distance
    return ""


def main() -> None:
    """Check as many problems as asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=500)
    options = parser.parse_args()
    failures = {seed: text for seed in range(options.problems) if (text := wrong(seed))}
    for seed, text in failures.items():
        print(f"seed {seed}: {text}")
    print(f"{options.problems - len(failures)} of {options.problems} as enumeration says")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
