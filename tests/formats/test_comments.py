"""Comments become spaces, everything else stays where it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.formats.comments import without_comments

_text = st.text(st.sampled_from('#/ \t\na1"é'), max_size=60)
_KINDS = {
    (False, False): r"^([ \t]*)#[^\n]*",
    (True, False): r"()(?:^|(?<=[ \t\n]))#[^\n]*",
    (False, True): r"^([ \t]*)#[^\n]*|//[^\n]*",
}


@pytest.mark.parametrize(("trailing", "slashes"), _KINDS)
@pytest.mark.parametrize("chunk", [1, 7, 2**20])
@settings(deadline=None)
@given(text=_text)
def test_same_as_an_expression(chunk: int, trailing: bool, slashes: bool, text: str) -> None:
    """The same as replacing what an expression finds, however the file is cut into chunks."""
    expression = re.compile(_KINDS[trailing, slashes].encode(), re.MULTILINE)
    expected = expression.sub(lambda match: (match[1] or b"").ljust(len(match[0])), text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dabp.formats.comments._CHUNK", chunk)
        assert without_comments(text.encode(), trailing=trailing, slashes=slashes) == expected
