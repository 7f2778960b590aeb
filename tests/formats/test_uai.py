"""Probabilities become costs, tables are as declared, and evidence fits the problem."""

from __future__ import annotations

import io
import math

import pytest

from dabp.errors import FormatError
from dabp.formats import read
from dabp.formats.uai import read_evidence
from dabp.problem import Problem

_PROBLEM = Problem([2, 3, 2], labels=[("no", "yes"), None, (1.5, 2.5)], variable_names=["a", "b c", "d"], name="p")


@pytest.mark.parametrize("kind", ["MARKOV", "BAYES", "markov"])
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 0 1 2 1", {0: 1, 2: 1}),
        ("1\n2 0 1 2 1\n", {0: 1, 2: 1}),
        ("0", {}),
        ("1 0", {}),
        ("", {}),
        ("1 1 2", {1: 2}),
    ],
)
def test_evidence(text: str, expected: dict[int, int]) -> None:
    """With and without a number of samples; an empty file is no evidence."""
    assert read_evidence(io.StringIO(text), _PROBLEM) == expected


@pytest.mark.parametrize("text", ["2 0 1", "0.5 1", "1 5 0", "1 0 7", "2 0 1 0 0", "1 0 x", "1.5 0 1", "-1"])
def test_wrong_evidence(text: str) -> None:
    """Evidence that does not fit the problem is refused."""
    with pytest.raises(FormatError):
        read_evidence(io.StringIO(text), _PROBLEM)
