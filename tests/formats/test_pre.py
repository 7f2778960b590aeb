"""Pedigrees mean what Mendel's laws and the given genotypes say."""

from __future__ import annotations

import io
import itertools
import random

import numpy as np
import pytest

import dabp
from dabp.errors import FormatError
from dabp.formats import read


def _errors(rows: list[list[int]], genotype: dict[int, tuple[int, int]]) -> float:
    """Wrong genotypes of an assignment, inf where a child has an allele that no parent gave it."""
    total = 0.0
    for _, individual, father, mother, _, *given in rows:
        own, known = genotype[individual], [abs(allele) for allele in given if allele]
        if father and mother:
            pairs = itertools.product(genotype[father], genotype[mother])
            if not any(sorted(pair) == sorted(own) for pair in pairs):
                return np.inf
        elif (father or mother) and not set(own) & set(genotype[father or mother]):
            return np.inf
        right = sorted(known) == sorted(own) if len(known) == 2 else not known or known[0] in own
        if not right:
            total += np.inf if min(given) < 0 else 1.0
    return total


@pytest.mark.parametrize("seed", range(30))
def test_definition(seed: int) -> None:
    """Every assignment costs its wrong genotypes; a child without its parents' alleles is forbidden."""
    rng = random.Random(seed)
    rows = []
    for i in range(1, 6):
        parents = [rng.choice([0, *range(1, i)]) for _ in range(2)] if i > 2 else [0, 0]
        if parents[0] == parents[1]:
            parents[1] = 0
        sign = -1 if rng.random() < 0.1 else 1
        rows.append([1, i, *parents, 1, *(sign * rng.randint(0, 2) for _ in range(2))])
    rows[-1][-1] = 2  # so that it matters
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    problem = read(io.StringIO(text), "pre")
    labels = problem.names.labels(0)
    shown = [int(name[1:]) for name in problem.names.variables]
    own = [row for row in rows if row[1] in shown]
    for x in itertools.product(range(len(labels)), repeat=len(shown)):
        chosen = [tuple(map(int, labels[value].split("/"))) for value in x]
        assert problem.cost(x) == _errors(own, dict(zip(shown, chosen, strict=True)))
    assert all(not any(row[5:]) for row in rows if row[1] not in shown)


def test_known_optimum() -> None:
    """The pedigree of O'Connell and Weeks has one error at least, as is published with it."""
    text = "1 1 0 0 1 2 2\n1 2 0 0 2 0 0\n1 3 1 2 2 2 2\n1 4 1 2 2 0 0\n1 5 1 2 1 0 0\n1 6 0 0 1 2 2\n1 7 0 0 2 2 2\n"
    text += "1 8 6 4 2 0 0\n1 9 5 7 1 0 0\n1 10 9 8 1 2 2\n1 11 9 8 1 2 1\n1 12 9 8 1 3 2\n"
    result = dabp.solve(read(io.StringIO(text), "pre"), time_limit=5.0)
    assert (result.cost, result.status.name) == (1.0, "OPTIMAL")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 1 0 0 1 2 2\n1 1 0 0 1 2 2\n", "2: individual 1 is defined twice"),
        ("1 1 2 0 1 2 2\n1 2 1 0 1 2 2\n", "1: individual 1 descends from itself"),
        ("1 1 0 0 1 2 2\n2 2 0 0 1 2 2\n", "2: it has more than one locus"),
        ("1 1 0 0 1 2 2 1 1\n", "1: it has several loci"),
        ("1 1 0 0 1 2\n", "1: lines of 7 integers were expected"),
        ("1 1 0 0 1 0 0\n", "1: no individual has a genotype"),
        ("1 -1 0 0 1 1 1\n", "1: -1 is no number of an individual"),
        ("1 1 0 0 1 a 1\n", "1: a number was expected, 'a' found"),
        ("1 1 2 2 1 1 1\n", "1: a cost function names a variable twice"),
        ("\n".join(f"1 {i} 0 0 1 {i} {i}" for i in range(1, 200)), "its tables would have"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    """What is no pedigree, or would be too large, is refused in a sentence."""
    with pytest.raises(FormatError) as caught:
        read(io.StringIO(text), "pre")
    assert reason in str(caught.value)


def test_satellites_are_refused_by_name() -> None:
    """A `.bep` file is refused with what it is."""
    with pytest.raises(FormatError, match="satellite photographs"):
        read("10_1.bep")
