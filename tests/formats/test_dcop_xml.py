"""XCSP 2.1, FRODO's dialect and the authors' files."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read

_DATA = Path(__file__).parents[1] / "data" / "good"


def test_every_kind_of_relation() -> None:
    """Soft relations, supports, conflicts, predicates and the bound of one file cost what their text says."""
    problem = read(_DATA / "xcsp.xml")
    soft = {(0, 5): 9.0, (1, 1): 9.0, (2, 2): np.inf}
    for a, b, c in itertools.product((0, 1, 2, 5), (0, 1, 2, 5), (-1, 7)):
        allowed = a in (0, 5) and (b, c) != (5, -1) and abs(a - b) >= 1
        expected = 2 + soft.get((a, b), 1) + soft.get((b, a), 1) if allowed else np.inf
        assert problem.cost(problem.names.assignment({"A": a, "B": b, "C": c})) == expected, (a, b, c)


@pytest.mark.parametrize("word", ["infinity", "+infinity", "inf"])
def test_infinite_costs(word: str) -> None:
    """What other programs write for a forbidden tuple is forbidden."""
    text = '<instance><domains><domain name="D" nbValues="2">0 1</domain></domains><variables><variable name="x" '
    text += 'domain="D"/></variables><relations><relation name="R" semantics="soft" defaultCost="0">%s:1</relation>'
    text += '</relations><constraints><constraint scope="x" reference="R"/></constraints></instance>'
    assert read(io.StringIO(text % word), "xml").pool.tolist() == [0, np.inf]


def test_the_authors_files(shared_instances: Path) -> None:
    """The authors' tuples are 1-based and every combination is listed."""
    problem = read(shared_instances.parent / "reference" / "random_cop.xml")
    assert (problem.num_variables, problem.facts.num_constraints) == (12, 26)
    assert problem.names.labels(0) == (1, 2, 3, 4)
    with np.load(shared_instances.parent / "reference" / "random_cop.npz") as numbers:
        split, rows, columns = numbers["split_cost"], numbers["row_var"], numbers["col_var"]
    for f in range(problem.num_factors):
        assert problem.scope(f).tolist() == [rows[2 * f], columns[2 * f]]
        np.testing.assert_allclose(problem.table(f) / 50, split[2 * f] + split[2 * f + 1], rtol=1e-5, atol=1e-6)


def test_xcsp3_is_told_apart() -> None:
    """The later format of the same name is refused by name."""
    with pytest.raises(FormatError, match="stream:1: XCSP3 is not read"):
        read(
            io.StringIO(
                '<instance format="XCSP3" type="COP"><variables><var id="x"> 0 1 </var></variables></instance>'
            ),
            "xml",
        )
