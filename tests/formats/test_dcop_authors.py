"""The authors' dialect: every tuple, from 1 on, no default."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem


def _text(problem: Problem) -> tuple[str, list[str]]:
    stream = io.StringIO()
    notes = write(problem, stream, "authors")
    return stream.getvalue(), notes


@pytest.mark.parametrize("seed", range(20))
def test_reading_what_was_written(seed: int) -> None:
    """Costs and scopes come back; values are counted from 1 and mixed domains have a domain each."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 5)
    scopes = [rng.permutation(5)[:2] for _ in range(6)]
    tables = [rng.integers(0, 100, sizes[scope]) / (1 + seed % 2) for scope in scopes]
    problem = Problem.from_tables(sizes.tolist(), list(zip([scope.tolist() for scope in scopes], tables, strict=True)))
    text, notes = _text(problem)
    assert notes == []
    again = read(io.StringIO(text), "authors")
    assert again.names.variables == tuple(f"X{i + 1}.1" for i in range(5))
    assert [again.names.labels(i) for i in range(5)] == [tuple(range(1, size + 1)) for size in sizes.tolist()]
    for f in range(6):
        assert again.scope(f).tolist() == problem.scope(f).tolist()
        np.testing.assert_array_equal(again.table(f), problem.table(f))


def test_what_their_program_takes() -> None:
    """Parsed as plainly as can be: each relation lists all tuples in order, and nothing has a default."""
    problem = Problem.from_tables([2, 3], [([0, 1], [[1, 2, 3], [4, 5.5, 6]])], constant=7.0, maximize=True)
    text, notes = _text(problem)
    assert len(notes) == 2
    root = fromstring(text)
    relation = root.find("relations/relation")
    assert relation is not None
    found = [re.fullmatch(r"(-?[0-9.]+):(\d+) (\d+)", one).groups() for one in str(relation.text).split("|")]  # type: ignore[union-attr]
    assert found == [
        ("-1", "1", "1"),
        ("-2", "1", "2"),
        ("-3", "1", "3"),
        ("-4", "2", "1"),
        ("-5.5", "2", "2"),
        ("-6", "2", "3"),
    ]
    assert relation.get("defaultCost") is None
    assert [one.get("agent") for one in root.findall("variables/variable")] == ["A1", "A2"]


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (Problem([2], [0], [0, 1], [0, 1], [0, 2]), "binary constraints only; factor 'f0' has 1 variables"),
        (Problem([1, 1], [0, 1], [0, 2], [np.inf], [0, 1]), "cannot forbid combinations"),
    ],
)
def test_what_they_cannot_say(problem: Problem, reason: str) -> None:
    """Refused before anything is written."""
    with pytest.raises(FormatError, match=reason):
        write(problem, io.StringIO(), "authors")


def test_their_own_file_again(shared_instances: Path) -> None:
    """A file of theirs is written with the same agents, domains, scopes and relations."""
    path = shared_instances.parent / "reference" / "random_cop.xml"
    theirs, ours = fromstring(path.read_text()), fromstring(_text(read(path))[0])
    for tag in ("agents/agent", "domains/domain", "variables/variable", "constraints/constraint"):
        assert [dict(one.attrib) for one in ours.findall(tag)] == [dict(one.attrib) for one in theirs.findall(tag)]
    relations = [[one.text for one in root.findall("relations/relation")] for root in (ours, theirs)]
    assert relations[0] == relations[1]
