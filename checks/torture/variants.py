"""Ways to solve that no solver's name stands for: parameters, workers that share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dabp
from checks.torture.kinds import Case
from dabp.driver.result import Result

Options = dict[str, Any]
Way = Callable[[Case, Options], Result]
"""A solve with what every solver is given: presolve, seed, fixed variables, a start, limits."""

TEMPERATURES = (1e-3, 0.1, 1.0, 30.0, 1e6)


def _soft(case: Case, options: Options) -> Result:
    temperature = TEMPERATURES[case.seed % len(TEMPERATURES)]
    result = dabp.solve(case.problem, "bp", params={"temperature": temperature, "restarts": 2}, **options)
    for belief in result.beliefs or ():
        if not (belief >= 0).all() or abs(belief.sum() - 1) > 1e-9:
            raise ArithmeticError(f"beliefs are no probabilities: {belief}")
    return result


def _by_tables(case: Case, options: Options) -> Result:
    del options["max_iterations"]
    return dabp.solve(case.problem, "toulbar2", params={"cliques": False, "closed_forms": False}, **options)


def _together(case: Case, options: Options) -> Result:
    del options["max_iterations"]
    options["time_limit"] = 1.0
    with ThreadPoolExecutor(2) as executor:
        return dabp.solve_together(case.problem, "auto", executor=executor, workers=2, **options)


VARIANTS: dict[str, tuple[Way, int]] = {
    "bp at a temperature": (_soft, 1),
    "toulbar2 by tables": (_by_tables, 3),
    "together": (_together, 13),
}
"""Each way, and n where every n-th case is solved that way."""
