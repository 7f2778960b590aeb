"""Numbers as people read them."""

from __future__ import annotations

import pytest

from dabp.driver.wording import counted, number, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (3.0, "3"),
        (-0.0, "-0"),
        (0.5, "0.5"),
        (1234567.0, "1234567"),
        (1234567.25, "1234567.25"),
        (1000000000.25, "1000000000.25"),
        (100000000000.5, "100000000000.5"),
        (0.1 + 0.2, "0.3"),
        (27.190000000000055, "27.19"),
        (1.25e-12, "1.25e-12"),
        (1e300, "1e+300"),
    ],
)
def test_costs_have_all_their_digits_and_no_noise(value: float | None, text: str) -> None:
    """By hand: what a file says is what is shown, what adding up did is not."""
    assert number(value) == text


@pytest.mark.parametrize(
    ("gap", "text"),
    [(0.0, "0.00%"), (1e-12, "<0.01%"), (0.00004, "<0.01%"), (0.0123, "1.23%"), (1.0, "100.00%")],
)
def test_an_open_gap_is_not_0(gap: float, text: str) -> None:
    """0 is for proofs."""
    assert percent(gap) == text


def test_nouns_have_their_plural() -> None:
    """One iteration is not several."""
    assert [counted(n, "iteration") for n in (0, 1, 2000)] == [
        "0 iterations",
        "1 iteration",
        "2,000 iterations",
    ]
