"""Scale-free networks."""

from __future__ import annotations

import numpy as np

from dabp.lab.generators.scale_free import scale_free


def test_scale_free_has_hubs_and_the_right_number_of_edges() -> None:
    """A tree on m0 vertices and m1 edges for each later one; degrees are unequal."""
    problem = scale_free(variables=200, domain=2, m0=10, m1=10, seed=0)
    degrees = np.bincount(problem.scope_variables)
    assert problem.num_factors == 9 + 190 * 10
    assert degrees.max() > 3 * np.median(degrees)


def test_early_vertices_have_all_the_edges_they_can() -> None:
    """Fewer vertices than m1: each is joined to all before it."""
    assert scale_free(variables=5, m0=2, m1=10).num_factors == 1 + 2 + 3 + 4
