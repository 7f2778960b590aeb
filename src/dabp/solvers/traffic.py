"""What agents would have sent each other, had a search's iterations been run distributedly, an agent a variable."""

from __future__ import annotations

from typing import NamedTuple


class Traffic(NamedTuple):
    """Messages between agents, and the numbers (values and costs) in them; docs/formats/yaml.md defines both."""

    messages: int
    size: int
