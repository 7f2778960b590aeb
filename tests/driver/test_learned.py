"""What DABP has learned, as arrays and as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.driver.learned import Learned


def test_a_file_holds_every_iteration(tmp_path: Path) -> None:
    """NumPy reads back what was observed, with iterations as first axis."""
    problem = dabp.generate("random-cop", variables=10, density=0.4, seed=1)
    learned = Learned()
    result = dabp.solve(problem, "dabp", max_iterations=25, observe=learned)
    learned.save(tmp_path / "learned.npz")
    with np.load(tmp_path / "learned.npz") as read:
        np.testing.assert_array_equal(read["cost"], result.trace.iteration_costs)
        edges, pairs = len(read["edge_variable"]), len(read["weight_edge"])
        assert read["damping"].shape == (25, edges)
        assert read["weights"].shape == (25, pairs)
        assert read["hidden_v2f"].shape == (25, edges, 8)
        smoothed_within = read["bound_theorem1"] >= 0
        assert smoothed_within.all()
    with pytest.raises(dabp.DabpError, match="npz"):
        learned.save(tmp_path / "learned.txt")


def test_what_is_no_observer_is_refused_in_a_sentence() -> None:
    """A number, a callback that should observe, and a solver without iterations to look into."""
    problem = dabp.generate("random-cop", variables=10, density=0.4, seed=1)
    with pytest.raises(dabp.DabpError, match="observe is a function"):
        dabp.solve(problem, "dabp", max_iterations=3, observe=3)  # type: ignore[typeddict-item]
    with pytest.raises(dabp.DabpError, match="observer and no callback"):
        dabp.solve(problem, "bp", max_iterations=3, callbacks=[Learned()])
    with pytest.raises(dabp.DabpError, match="for the solver dabp"):
        dabp.solve(problem, "bp", max_iterations=3, observe=Learned())
