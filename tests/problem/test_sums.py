"""Chains of partial sums: smallest automata that give every total its cost."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from dabp.errors import ProblemError
from dabp.problem.sums import Judge, chain, exact, exact_numbers, whole_terms


@pytest.mark.parametrize("seed", range(60))
def test_walking_the_chain_gives_what_the_total_costs(seed: int) -> None:
    """For every combination of values, with bounds on either side or both, forbidden, flat or by the unit."""
    rng = np.random.default_rng(seed)
    terms = [rng.integers(-3, 4, rng.integers(1, 4)) for _ in range(rng.integers(2, 6))]
    low, high = (None if rng.random() < 0.4 else Fraction(int(rng.integers(-9, 9)), 2) for _ in range(2))
    measure, different = str(rng.choice(["amount", "once", "square", "pairs"])), bool(rng.random() < 0.2)
    judge = Judge(low, high, float(rng.choice([math.inf, 0.5])), measure, int(rng.integers(1, 3)), different)
    made = chain(terms, judge, 10**6, "it")
    for values in itertools.product(*(range(len(term)) for term in terms)):
        state = 0
        for step, value in zip(made.steps, values[:-1], strict=True):
            state = step[state, value]
        total = sum(int(term[value]) for term, value in zip(terms, values, strict=True))
        off = max(0, (low - total) if low is not None else 0, (total - high) if high is not None else 0)
        off = Fraction(off) / judge.denominator
        amount = {"amount": off, "once": Fraction(off > 0), "square": off**2, "pairs": off * (off + 1) / 2}[measure]
        amount = Fraction(not off) if different else amount
        assert made.costs[state, values[-1]] == (judge.price * float(amount) if amount else 0.0)


def test_states_are_as_few_as_there_can_be() -> None:
    """At most two of ten: none, one, two or too many so far; when nothing can go wrong any more, one state."""
    made = chain([np.array([0, 1])] * 10, Judge(None, Fraction(2)), 10**6, "it")
    assert [int(step.max()) + 1 for step in made.steps] == [2, 3, 4, 4, 4, 4, 4, 4, 3]
    sure = chain([np.array([0, 1])] * 10, Judge(None, Fraction(20)), 10**6, "it")
    assert [step.shape for step in sure.steps] == [(1, 2)] * 9


def test_sizes_are_told_before_they_are_made() -> None:
    """Sums that hardly ever coincide are given up early."""
    terms = [np.array([0, number]) for number in np.random.default_rng(0).integers(1, 10**9, 30)]
    with pytest.raises(ProblemError) as caught:
        chain(terms, Judge(None, Fraction(10**10)), 10**6, "it")
    assert int(re.findall(r"[\d,]+", str(caught.value))[0].replace(",", "")) > 10**6


def test_decimals_are_exact() -> None:
    """0.1 + 0.2 is 0.3, and 1/3 as a float is what it is printed as."""
    rows = [exact_numbers([0.1], "it"), exact_numbers([2, np.float64(2.5)], "it"), exact_numbers((3, -4), "it")]
    terms, denominator = whole_terms([Fraction(1), Fraction(1, 10), Fraction(0)], rows)
    assert denominator == 20
    assert [term.tolist() for term in terms] == [[2], [4, 5], [0, 0]]
    assert whole_terms([], []) == ([], 1)
    assert exact(True, "it") == 1
    assert exact(1 / 3, "it") == Fraction("0.3333333333333333")
    with pytest.raises(ProblemError, match="it is a finite number, not '1'"):
        exact("1", "it")
