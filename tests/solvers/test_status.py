"""Why a solve ended."""

from __future__ import annotations

from dabp.solvers.status import Status


def test_every_status_has_a_word_and_a_sentence() -> None:
    """The word is what programs read, the sentence what people read; none says the same as another."""
    assert all(each.value == each.name for each in Status)
    assert len({each.sentence for each in Status}) == len(Status)
