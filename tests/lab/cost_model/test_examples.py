"""Examples are what a search meets."""

from __future__ import annotations

import itertools

from dabp.lab.cost_model.examples import Examples
from dabp.problem.randomness import generator


def test_examples_are_subtrees() -> None:
    """Constraints lead from a variable to an earlier one, all are connected to the target, and there is a choice."""
    for example in itertools.islice(Examples(max_variables=8, max_domain=4).stream(generator(1)), 100):
        subtree = example.subtree
        assert (subtree.lower > subtree.upper).all()
        assert set(subtree.lower.tolist()) == set(range(1, len(subtree.sizes)))
        assert len(example.label) == subtree.sizes[0]
        for low, high, table in zip(subtree.lower, subtree.upper, subtree.tables, strict=True):
            assert table.shape == (subtree.sizes[low], subtree.sizes[high])
