"""Uniform random COPs."""

from __future__ import annotations

import numpy as np

from dabp.lab.generators.random_cop import random_cop


def test_every_combination_costs_an_integer_up_to_the_largest() -> None:
    """All of 0..max_cost occur and nothing else; the paper's default is 100."""
    assert set(np.unique(random_cop(variables=30, domain=6, max_cost=3).pool)) == {0.0, 1.0, 2.0, 3.0}
    assert random_cop(seed=1).pool.max() == 100


def test_the_papers_density_gives_its_number_of_constraints() -> None:
    """p1 = 0.25 on 60 variables is 442 constraints in the authors' program; the text draws them."""
    assert {random_cop(seed=seed).num_factors for seed in range(3)} == {442}
    assert len({random_cop(seed=seed, variant="text").num_factors for seed in range(5)}) > 1
