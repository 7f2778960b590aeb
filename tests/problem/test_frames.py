"""Frames are pandas' own."""

from __future__ import annotations

import pandas as pd

from dabp.problem.frames import frame


def test_columns_keep_their_order_and_kinds() -> None:
    """Numbers stay numbers, text stays text."""
    made = frame({"b": [1, 2], "a": ["x", "y"]})
    assert isinstance(made, pd.DataFrame)
    assert list(made.columns) == ["b", "a"]
    assert made["b"].sum() == 3
