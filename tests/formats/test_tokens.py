"""Numbers parsed as one array, as narrow as they allow."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.formats.text import Source
from dabp.formats.tokens import WORD, Tokens

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
