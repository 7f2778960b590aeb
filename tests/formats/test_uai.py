"""Probabilities become costs, tables are as declared, and evidence fits the problem."""

from __future__ import annotations

import io
import math
import warnings

import numpy as np
import pytest

from dabp.errors import FormatError, FormatWarning
from dabp.formats import read, write
from dabp.problem import Problem


@pytest.mark.parametrize("kind", ["MARKOV", "markov"])
def test_costs_are_negated_logarithms(kind: str) -> None:
    """The last variable of a scope runs fastest, and a probability of 0 is forbidden."""
    problem = read(io.StringIO(f"{kind} 2 2 3 1 2 1 0 6 1 0.5 0.25 0 1 2"), "uai")
    assert problem.scope(0).tolist() == [1, 0]
    for (second, first), p in {(0, 0): 1, (0, 1): 0.5, (1, 0): 0.25, (1, 1): 0, (2, 0): 1, (2, 1): 2}.items():
        assert problem.cost([first, second]) == (pytest.approx(-math.log(p)) if p else math.inf)


def test_comments() -> None:
    """What follows a # at the start of a line or after a space is no part of the network."""
    text = "# made by hand\nMARKOV # kind\n1 2 1\n# scopes\n1 0 2 #sizes 9 9\n0.5 1"
    assert read(io.StringIO(text), "uai") == read(io.StringIO("MARKOV 1 2 1 1 0 2 0.5 1"), "uai")


def test_tables_that_are_no_distributions() -> None:
    """A BAYES table whose rows do not add up to 1 over its last variable is reported; the network is still read."""
    text = "BAYES 2 2 3 3 1 0 0 2 0 1 2 0.5 0.5 1 1 6 %s"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(io.StringIO(text % "0.2 0.3 0.5 1 0 0"), "uai")
        read(io.StringIO(text.replace("BAYES", "MARKOV") % "9 9 9 9 9 9"), "uai")
    with pytest.warns(FormatWarning, match="table 2 is no distribution of the last variable .* add up to 0.8"):
        problem = read(io.StringIO(text % "0.2 0.1 0.5 1 0 0"), "uai")
    assert problem.cost([0, 2]) == pytest.approx(-math.log(0.25))


def test_constants_are_added_up() -> None:
    """Factors without variables are the constant, unless they forbid everything."""
    problem = read(io.StringIO("MARKOV 1 2 4 0 1 0 0 0 1 0.5 2 1 1 1 0.25 1 0"), "uai")
    assert problem.constant == pytest.approx(math.log(8))
    assert problem.num_factors == 2
    assert problem.cost([0]) == math.inf


def test_logarithms() -> None:
    """.LG holds the logarithms themselves, to any base of size."""
    problem = read(io.StringIO("MARKOV 1 3 1 1 0 3 -1000.5 2 -inf"), "lg")
    assert problem.pool.tolist() == [1000.5, -2, math.inf]


def test_files_of_pyagrum_are_reported() -> None:
    """Its comments tell that tables of several parents are in another order than declared; one parent cannot be."""
    head = "BAYES\n3\n2 2 2\n3\n1 0   # a\n"
    tables = "\n2\n 0.5 0.5\n4\n 0.1 0.9\n 0.2 0.8\n"
    two = head + "2 0 1   # b\n3 0 1 2   # c\n" + tables + "8\n 1 0\n 1 0\n 1 0\n 0 1\n"
    with pytest.warns(
        FormatWarning, match="stream: it looks as written by pyAgrum, which lists parents in the reverse"
    ):
        assert read(io.StringIO(two), "uai").num_factors == 3
    one = head + "2 0 1   # b\n2 1 2   # c\n" + tables + "4\n 0.1 0.9\n 0.2 0.8\n"
    assert read(io.StringIO(one), "uai").num_factors == 3


@pytest.mark.parametrize("format", ["uai", "cfn"])
def test_equal_tables_are_stored_once(format: str) -> None:
    """Tables that repeat share one, and a fault in one of them has its own line."""
    rng = np.random.default_rng(0)
    tables = [np.round(rng.random((9, 9)), 3), np.exp(-rng.random((9, 9)))]
    problem = Problem.from_tables([9] * 30, [((i, i + 1), tables[i % 3 > 0]) for i in range(29)])
    stream = io.StringIO()
    pool = np.concatenate([problem.cells(f) for f in range(29)])
    written_out = problem.replace(factor_table=np.arange(29), pool=pool, pool_offsets=np.arange(0, 30 * 81, 81))
    write(written_out, stream, format)
    again = read(io.StringIO(stream.getvalue()), format)
    states = rng.integers(0, 9, (50, 30))
    np.testing.assert_allclose(again.cost(states), problem.cost(states), rtol=1e-12)
    assert len(again.pool) <= 4 * 81
    lines = stream.getvalue().split("\n")
    at = max(i for i, line in enumerate(lines) if len(line) > 300)
    lines[at] = lines[at].replace("0.", "x.", 1)
    with pytest.raises(FormatError, match=f":{at + 1}: a number was expected, 'x"):
        read(io.StringIO("\n".join(lines)), format)
