"""Bayesian networks by name: what their text says, what pgmpy reads, and back."""

from __future__ import annotations

import gzip
import io
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem
from tests.formats.networks import real_networks
from tests.formats.strategies import networks
from tests.problems import all_assignments

_DATA = Path(__file__).parents[1] / "data" / "good"


def test_every_kind_of_statement() -> None:
    """Quotes, comments, properties, rows by name in any order, a default and a table give these probabilities."""
    problem = read(_DATA / "cough.bif")
    rows = {("yes", "not at all"): 0.4, ("yes", "some"): 0.8, ("no", "<=3"): 1.0}
    cold = {"not at all": 0.5, "some": 0.25, "<=3": 0.25}
    for smoke, how, cough in itertools.product(("yes", "no"), cold, ("yes", "no")):
        p = rows.get((smoke, how), 0.1)
        total = (0.3 if smoke == "yes" else 0.7) * cold[how] * (p if cough == "yes" else 1 - p)
        cost = problem.cost(problem.names.assignment({"smoke": smoke, "cold": how, "cough": cough}))
        assert cost == (pytest.approx(-math.log(total)) if total else math.inf)
    assert problem.name == "why do I cough"


def test_a_table_has_the_child_slowest() -> None:
    """As in the format's definition: all parents' values for the child's first value, then for its second."""
    problem = read(_DATA / "table.bif")
    assert np.exp(-problem.table(1)).round(9).tolist() == [[0.7, 0.3], [0.2, 0.8]]


@settings(max_examples=50, deadline=None)
@given(problem=networks())
def test_any_network_there_and_back(problem: Problem) -> None:
    """Names with marks, letters of all scripts and numbers come back, and so do probabilities of 0."""
    for format in ("bif", "xmlbif"):
        stream = io.StringIO()
        assert write(problem, stream, format) == []
        again = read(io.StringIO(stream.getvalue()), format)
        assert again.names.variables == problem.names.variables
        assert all(again.names.labels(i) == problem.names.labels(i) for i in range(problem.num_variables))
        states = all_assignments(problem)
        np.testing.assert_allclose(again.cost(states), problem.cost(states), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (Problem([2], maximize=True), "its cost is no negated logarithm"),
        (Problem([2]), "variable 'x0' has no distribution"),
        (Problem([2], [0], [0, 1], [1, 2], [0, 2]), "factor 'f0' does not add up to 1 over 'x0'"),
        (Problem([1], [0, 0], [0, 1, 2], [0], [0, 1], [0, 0]), "factor 'f1' is a second distribution"),
    ],
)
@pytest.mark.parametrize("format", ["bif", "xmlbif"])
def test_what_is_no_network(format: str, problem: Problem, reason: str) -> None:
    """Only distributions of each variable given others can be said."""
    with pytest.raises(FormatError, match=f"this is no Bayesian network: .*{reason}"):
        write(problem, io.StringIO(), format)


@pytest.mark.parametrize("name", [path.name for path in real_networks()] or [None])
def test_pgmpy_reads_the_same(name: str | None) -> None:
    """Each real network that pgmpy carries has the names, states and probabilities that pgmpy's reader finds."""
    readwrite = pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed")
    path = next(path for path in real_networks() if path.name == name)
    if path.stat().st_size > 50_000:
        pytest.skip("pgmpy takes minutes for it")
    problem = read(path)
    model = readwrite.BIFReader(string=gzip.decompress(path.read_bytes()).decode()).get_model()
    assert set(problem.names.variables) == set(model.nodes())
    other = Problem.from_pgmpy(model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = problem.names.labelled(rng.integers(0, problem.domain_sizes))
        assert problem.cost(problem.names.assignment(values)) == pytest.approx(
            other.cost(other.names.assignment(values))
        )
