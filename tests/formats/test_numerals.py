"""What counts as a number, one at a time and many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.formats.numerals import NUMBER, integer, parse_list

_words = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1.", ".5", "+3", "1e5", "-.5E-3", "007"]),
)
_decimals = st.tuples(st.text("0123456789", max_size=9), st.text("0123456789", max_size=9)).map(".".join)


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
    """Few and many numbers are parsed in different ways, to the same values."""
    numbers = parse_list(" ".join(words * repeats))
    assert numbers is not None
    np.testing.assert_array_equal(numbers, np.array([float(word) for word in words] * repeats))


@pytest.mark.parametrize("word", ["x", "1_0", "1.2.3", "--1", "é"])
@pytest.mark.parametrize("count", [1, 40_000])
def test_lists_with_other_words(word: str, count: int) -> None:
    """A single other word among any number of numbers is noticed."""
    assert parse_list("1 " * count + word) is None


@settings(deadline=None)
@given(words=st.lists(_decimals, min_size=1, max_size=8), repeats=st.sampled_from([1, 5000]))
def test_decimals_are_the_nearest_floats(words: list[str], repeats: int) -> None:
    """Digits with a point have a way of their own: to the last bit as Python reads them, and a point alone is none."""
    numbers = parse_list(" ".join(words * repeats))
    if "." in words:
        assert numbers is None
    else:
        assert numbers is not None
        np.testing.assert_array_equal(numbers, np.array([float(word) for word in words] * repeats))
