"""Bayesian networks in XML."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dabp.formats import read

_DATA = Path(__file__).parents[1] / "data" / "good"


def test_a_table_has_the_child_fastest() -> None:
    """A row of the child's values for each combination of the parents, comments inside of it skipped."""
    problem = read(_DATA / "cough.xmlbif")
    assert problem.scope(1).tolist() == [0, 1]
    assert np.exp(-problem.table(1)).round(9).tolist() == [[0.6, 0.4], [0.1, 0.9]]


def test_the_root_tells() -> None:
    """A network under the suffix .xml is one."""
    assert read(_DATA / "network.xml").replace(name="cough") == read(_DATA / "cough.xmlbif")
