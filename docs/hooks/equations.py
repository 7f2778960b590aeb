"""MkDocs hook: equations become MathML when the site is built, so that pages need no script and no network."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

DISPLAY = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<![\\$`])\$([^$\n`]+?)\$(?![\d$])")
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace ``$$ … $$`` paragraphs and ``$…$`` outside code blocks."""
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else _with_math(part) for part in parts)


def _with_math(text: str) -> str:
    text = DISPLAY.sub(lambda found: f'<div class="math">{convert(found[1], display="block")}</div>', text)
    return INLINE.sub(lambda found: f'<span class="math">{convert(found[1])}</span>', text)  # a span stays in its line
