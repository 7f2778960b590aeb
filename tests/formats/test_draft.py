"""What a reader collects is checked where it stands, and becomes a problem."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats.draft import Draft
from dabp.formats.text import Source, printable
from dabp.problem import Problem


def _draft(max_cells: int = 100) -> Draft:
    return Draft(Source("f", b"", max_cells))


def test_becomes_a_problem() -> None:
    """Tables that constants leave behind go, shared ones stay shared, names that say nothing are left out."""
    draft = _draft()
    for i in range(2):
        draft.add_variable(f"x{i}", 2)
    draft.add_factor([], draft.add_table([5.0]))
    table = draft.add_table([[1, 2], [3, 4]])
    draft.add_factor([0, 1], table)
    draft.add_factor([1, 0], table)
    assert draft.problem("p") == Problem(
        [2, 2], [0, 1, 1, 0], [0, 2, 4], [1, 2, 3, 4], [0, 4], [0, 0], constant=5.0, name="p"
    )


def test_complaints_name_the_line() -> None:
    """Every refusal is one sentence with the line it was given."""
    draft = _draft()
    draft.add_variable("a", 2, 1)
    for call, reason in (
        (lambda: draft.add_variable("a", 2, 7), ":7: variable 'a' is defined twice"),
        (lambda: draft.add_variable("b", 0, 8), ":8: variable 'b' has an empty domain"),
        (lambda: draft.add_variable("b\x1b", 2, 9), ":9: a name has characters that cannot be printed"),
        (lambda: draft.variable("c", 10), ":10: there is no variable 'c'"),
        (lambda: draft.shape([0, 0], 11), ":11: a cost function names a variable twice"),
        (lambda: draft.add_table([1, np.nan], 12), ":12: a cost is nan"),
        (lambda: draft.add_table([1, -np.inf], 13), ":13: a cost is -inf; inf is the only infinite one"),
        (lambda: draft.add_table(np.zeros(101), 14), ":14: its tables would have .* cells"),
        (
            lambda: draft.domain([["u", "u"]], 15) and draft.add_variable("d", draft.domain([["u", "u"]]), 15),
            ":15: variable 'd' has two values of one name",
        ),
    ):
        with pytest.raises(FormatError, match=reason):
            call()


def test_text_that_can_be_shown() -> None:
    """Control characters and marks that turn text around become question marks; the rest stays."""
    assert printable("a\x1b[31mé\u202ex") == "a?[31mé?x"
