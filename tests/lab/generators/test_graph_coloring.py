"""Weighted graph colouring problems."""

from __future__ import annotations

import numpy as np

from dabp.lab.generators.graph_coloring import graph_coloring


def test_costs_of_colouring() -> None:
    """Equal values cost integers 1..100; unequal ones less than 0.1, or nothing in the text's variant."""
    for variant, largest in (("authors", 0.1), ("text", 0.0)):
        tables = graph_coloring(variant=variant, seed=2).pool.reshape(-1, 5, 5)
        diagonal = tables[:, np.arange(5), np.arange(5)]
        assert diagonal.min() >= 1
        assert diagonal.max() <= 100
        assert np.all(diagonal == np.rint(diagonal))
        off = tables[:, ~np.eye(5, dtype=bool)]
        assert off.min() >= 0
        assert off.max() <= largest
