"""Numbers parsed as one array, as narrow as they allow."""

from __future__ import annotations

import io

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import FORMATS, read
from dabp.formats.text import Source
from dabp.formats.tokens import WORD, Tokens
from dabp.problem import Problem

_FILLER = b" 7" * 40


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows the filler is parsed apart."""
    monkeypatch.setattr("dabp.formats.large.PIECE", 16)


@pytest.mark.parametrize(
    ("late", "dtype"),
    [
        (b" 2147483647 -2147483647", np.int32),
        (b" 2147483648", np.int64),
        (b" -2147483648", np.int64),
        (b" 9007199254740993", np.int64),
        (b" 0.5", np.float64),
        (b" 1e3 inf", np.float64),
    ],
)
@pytest.mark.parametrize("early", [b" 1 2", b" 3000000000 2", b" 1.5 2"])
def test_numbers_widen_when_one_needs_it(early: bytes, late: bytes, dtype: type) -> None:
    """Small integers take 32 bits; a larger or real number anywhere widens all, and none changes its value."""
    text = early + _FILLER + late + b" 5"
    numbers = Tokens(Source("x", b"title" + text, 1)).numbers
    smallest = {b" 1 2": np.int32, b" 3000000000 2": np.int64, b" 1.5 2": np.float64}[early]
    expected = np.result_type(dtype, smallest)
    assert numbers.dtype == expected
    assert numbers.tolist() == [float(one) if expected == np.float64 else int(one) for one in text.split()]


def test_words_stand_among_numbers() -> None:
    """A word keeps its place, also where all numbers are small."""
    tokens = Tokens(Source("x", b"title 1 2" + _FILLER + b" word 3", 1))
    (place,) = tokens.words
    assert tokens.words[place] == "word"
    assert tokens.numbers[place] == WORD
    assert tokens.numbers[[0, 1, place - 1, place + 1]].tolist() == [1, 2, 7, 3]


def _read(text: str, name: str) -> tuple[object, ...]:
    try:
        problem = read(io.StringIO(text), name)
    except FormatError as error:
        return ("error", str(error))
    return (problem, problem.pool.tolist(), problem.factor_table.tolist(), problem.constant)


@pytest.mark.parametrize("name", ["wcsp", "uai"])
@pytest.mark.parametrize("seed", range(12))
def test_functions_of_one_form_are_taken_together(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of functions of one form, found in one go, are those found one by one; also where a file breaks off."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(5):
        arity = int(rng.integers(0, 4))
        for _ in range(int(rng.integers(1, 40))):
            scope = tuple(rng.choice(6, arity, replace=False).tolist())
            tables.append((scope, rng.integers(0, 3, (2,) * arity) * 1.0))
    text = "".join(FORMATS[name].load().write(Problem.from_tables([2] * 6, tables))[0])
    words = text.split()
    changed = words.copy()
    changed[int(rng.integers(1, len(words)))] = "x"
    cut = int(rng.integers(1, len(words)))
    for version in (text, " ".join(changed), " ".join(words[:cut])):
        found = []
        for form in (0, 2, 10**9):
            monkeypatch.setattr(f"dabp.formats.{name}.FORM", form)
            found.append(_read(version, name))
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("late", [b"", b" 5000000000", b" 0.5"])
@pytest.mark.parametrize("header", [0, 1, 2, 4])
def test_large_numbers_of_a_header_are_taken_as_they_are(
    monkeypatch: pytest.MonkeyPatch, header: int, late: bytes
) -> None:
    """Kept apart or not, they are given when they are taken; only those of the header leave the others narrow."""
    monkeypatch.setattr("dabp.formats.large.PIECE", 64)
    tokens = Tokens(Source("x", b"title 3 9007199254740993 -4 5" + _FILLER + late, 1), header=header)
    assert tokens.take(2, "two").tolist() == [3, 9007199254740993 if late != b" 0.5" else 2.0**53]
    assert tokens.take(3, "three").tolist() == [-4, 5, 7]
    if not late:
        assert tokens.numbers.dtype == (np.int32 if header >= 2 else np.int64)
