"""The messages that a distributed run of a search, with an agent for each variable, would have sent."""

from __future__ import annotations

from typing import NamedTuple


class Traffic(NamedTuple):
    """Messages between agents, and the numbers (values and costs) in them; docs/formats/yaml.md defines both."""

    messages: int
    size: int
