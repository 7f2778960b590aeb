"""What counts as a number, one at a time and many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.formats.numerals import NUMBER, integer, parse, parse_list

_words = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1.", ".5", "+3", "1e5", "-.5E-3", "007"]),
)


@given(word=_words)
def test_numbers(word: str) -> None:
    """Every form in which numbers are written."""
    assert NUMBER.fullmatch(word)


@pytest.mark.parametrize("word", ["", ".", "1e", "e5", "1.2.3", "--1", "1_0", "0x1", "٣", "nan", "inf", "1 "])
def test_other_words(word: str) -> None:
    """Python takes some of these for numbers; files do not have them."""
    assert not NUMBER.fullmatch(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("12", 12), ("-7", -7), ("+0", 0), ("0" * 5000 + "5", 5), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("1.0", None)],
)
def test_integers(word: str, expected: int | None) -> None:
    """Up to 18 digits after any zeros, which Python alone refuses by the thousand."""
    assert integer(word) == expected


@settings(deadline=None)
@given(words=st.lists(_words, max_size=8), repeats=st.sampled_from([1, 5000]))
def test_lists(words: list[str], repeats: int) -> None:
    """Few numbers and many, in pieces."""
    numbers = parse_list(" ".join(words * repeats))
    assert numbers is not None
    np.testing.assert_array_equal(numbers, np.array([float(word) for word in words] * repeats))


@settings(deadline=None)
@given(words=st.lists(_words | st.sampled_from(["inf", "-inf", "-0.0", "0e5", "1e-400", "9e400"]), min_size=1))
def test_chunks(words: list[str]) -> None:
    """Every number of a chunk is the nearest float, to its sign and last bit, or the exact integer."""
    numbers = parse(" ".join(words).encode())
    assert numbers is not None
    if numbers.dtype == np.int64:
        assert numbers.tolist() == [int(word) for word in words]
    else:
        expected = np.array([float(word) for word in words])
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(np.signbit(numbers), np.signbit(expected))


@pytest.mark.parametrize(
    "word", ["1.2.3", "1e", "e5", "1e5e3", "1e2.5", "+-1", "1-1", ".", "-", "-.e1", "1einf", "1inf"]
)
def test_chunks_with_other_words(word: str) -> None:
    """What is no number among numbers is left to the careful reader."""
    assert parse(f"1.5 {word} 2e3".encode()) is None
    assert parse(word.encode()) is None


@pytest.mark.parametrize("word", ["x", "1_0", "1.2.3", "--1", "é"])
@pytest.mark.parametrize("count", [1, 40_000])
def test_lists_with_other_words(word: str, count: int) -> None:
    """A single other word among any number of numbers is noticed."""
    assert parse_list("1 " * count + word) is None
