"""Values against type hints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.solvers.hints import check_types

HINTS = {"n": int, "x": float, "flag": bool, "word": str, "maybe": int | None, "either": int | str, "any": list[int]}


@pytest.mark.parametrize(
    "given",
    [{"n": 3}, {"n": np.int64(3)}, {"x": 2}, {"x": np.float32(0.5)}, {"flag": True}, {"word": "w"}, {"either": "a"},
     {"any": "whatever"}, {"unknown": object()}],
)  # fmt: skip
def test_what_fits_is_taken(given: dict[str, Any]) -> None:
    """NumPy's numbers, too; hints of other kinds allow anything."""
    check_types("solver 's'", given, HINTS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": 1.5}, "'n' of solver 's' is a whole number, not 1.5"),
        ({"n": True}, "'n' of solver 's' is a whole number, not True"),
        ({"x": "2"}, "'x' of solver 's' is a number, not '2'"),
        ({"flag": 1}, "'flag' of solver 's' is true or false, not 1"),
        ({"word": 3}, "'word' of solver 's' is text, not 3"),
        ({"either": 1.5}, "'either' of solver 's' is a whole number or text"),
    ],
)
def test_what_does_not_is_refused(given: dict[str, Any], words: str) -> None:
    """With the parameter, its owner and the type in words; true is no number."""
    with pytest.raises(ParameterError) as caught:
        check_types("solver 's'", given, HINTS)
    assert words in str(caught.value)
