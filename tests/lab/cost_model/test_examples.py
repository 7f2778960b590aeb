"""Examples are what a search meets, and their labels are exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.lab.cost_model.examples import Examples, exact_costs
from dabp.lab.cost_model.microstructure import Subtree
from dabp.problem.randomness import generator

SMALL = Examples(max_variables=5, max_domain=3, max_assigned=3, colouring=0.3, mixed=0.5)


def exhaustive_costs(subtree: Subtree) -> np.ndarray:
    """Every assignment of the subtree."""
    costs = np.full(subtree.sizes[0], np.inf)
    for values in itertools.product(*(range(size) for size in subtree.sizes)):
        total = sum(float(u[a]) for u, a in zip(subtree.unary, values, strict=True) if u is not None)
        for low, high, table in zip(subtree.lower, subtree.upper, subtree.tables, strict=True):
            total += float(table[values[low], values[high]])
        costs[values[0]] = min(costs[values[0]], total)
    return costs


def test_labels_are_exact() -> None:
    """Bucket elimination gives what trying all assignments gives."""
    for example in itertools.islice(SMALL.stream(generator(3)), 60):
        expected = exhaustive_costs(example.subtree)
        assert example.label == pytest.approx(expected, abs=1e-5)


def test_labels_refuse_large_tables() -> None:
    """A dense subtree is refused before its tables are allocated."""
    dense = Examples(
        min_variables=8, max_variables=8, min_domain=9, max_domain=9, max_extra_edges=6, colouring=0, mixed=0
    )
    subtrees = (e.subtree for e in itertools.islice(dense.stream(generator(0)), 40))
    widest = max(subtrees, key=lambda s: len(s.lower))
    with pytest.raises(ParameterError, match="entries"):
        exact_costs(widest, max_entries=50)


def test_examples_are_subtrees() -> None:
    """Constraints lead from a variable to an earlier one, all are connected to the target, and there is a choice."""
    for example in itertools.islice(Examples(max_variables=8, max_domain=4).stream(generator(1)), 100):
        subtree = example.subtree
        assert (subtree.lower > subtree.upper).all()
        assert set(subtree.lower.tolist()) == set(range(1, len(subtree.sizes)))
        assert len(example.label) == subtree.sizes[0]
        for low, high, table in zip(subtree.lower, subtree.upper, subtree.tables, strict=True):
            assert table.shape == (subtree.sizes[low], subtree.sizes[high])
