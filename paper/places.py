"""Places of a page that a command fills: tables between two marks, and numbers in the prose."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACE = re.compile(r"(<!-- (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""Where a table stands on a page."""
NUMBER = re.compile(r"(<!-- = (?P<name>[\w-]+) -->).*?(<!-- = -->)")
"""Where a number stands in the prose of a page."""


def filled(page: str, made: Mapping[str, str], values: Mapping[str, str]) -> str:
    """The page with each place's table and number as they are made now."""
    page = PLACE.sub(lambda place: f"{place[1]}\n{made[place['name']]}\n{place[3]}", page)
    return NUMBER.sub(lambda place: f"{place[1]}{values[place['name']]}{place[3]}", page)
