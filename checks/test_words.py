"""Pages stay short: words of README, CHANGELOG and the site are within their bounds."""

from __future__ import annotations

import pytest

from checks.words import BOUNDS, counted, read, total


@pytest.mark.parametrize("name", BOUNDS)
def test_pages_are_within_their_bounds(name: str) -> None:
    """Prose and tables together."""
    assert read(total(name)) <= BOUNDS[name]


def test_words_hold_a_letter_and_are_told_by_kind() -> None:
    """Numbers, rules of tables and marks are no words."""
    text = "Two words, 3 more.\n<!-- place -->\n| a | 1.5 |\n| --- | --- |\n```python\nx = 1\n```\n"
    assert counted(text) == {"prose": 3, "tables": 1, "code": 1}
