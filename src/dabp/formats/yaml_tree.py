"""YAML as a tree that knows its lines, built from parser events; aliases and deep nesting are refused on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from dabp.formats.text import Source

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Node:
    """A scalar (`text` is set), a mapping (`items`: key text → node) or a list (`entries`).

    `key` is the key that a mapping has it under.
    """

    line: int
    text: str | None = None
    plain: bool = True
    items: dict[str, Node] | None = None
    key: Node | None = None
    entries: list[Node] | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is written there."""
        return self.plain and self.text in ("", "~", "null", "Null", "NULL")


def parse(source: Source) -> Node:
    """The document of a file."""
    events = _events(source)
    node = _node(source, events, next(events, None), 0)
    if node is None:
        raise source.error("the file has no YAML document")
    if (more := next(events, None)) is not None:
        raise source.error("a second YAML document follows", _line(more))
    return node


def _events(source: Source) -> Iterator[Any]:
    skipped = {yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent}
    try:
        source.text()  # whether it is text; the parser takes the bytes, and copies a text
        for event in yaml.parse(source.data.removeprefix(b"\xef\xbb\xbf"), Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                raise source.error(f"YAML aliases (*{str(event.anchor)[:40]}) are refused", _line(event))
            if type(event) not in skipped:
                yield event
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise source.error(f"this is not YAML ({error.problem or error.context})", line) from None
    except yaml.YAMLError as error:
        raise source.error(f"this is not YAML ({' '.join(str(error).split())[:100]})") from None


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _node(source: Source, events: Iterator[Any], event: Any, depth: int) -> Node | None:
    kind = type(event)
    if event is None or kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
        return None
    line = _line(event)
    source.meter.take_tokens(1, line)
    if depth > 30:
        raise source.error("YAML is nested more than 30 deep", line)
    tag = event.tag
    if tag is not None and tag.removeprefix("tag:yaml.org,2002:") not in (
        *("str", "int", "float", "bool", "null", "map", "seq", "!"),
    ):
        raise source.error(f"YAML tag {tag[:40]!r} is refused", line)
    if kind is yaml.ScalarEvent:
        if event.style in ("|", ">"):
            line += 1  # a block scalar's text starts below
        return Node(line, text=event.value, plain=event.implicit[0])
    if kind is yaml.SequenceStartEvent:
        entries = []
        while (child := _node(source, events, next(events, None), depth + 1)) is not None:
            entries.append(child)
        return Node(line, entries=entries)
    items: dict[str, Node] = {}
    while (key := _node(source, events, next(events, None), depth + 1)) is not None:
        value = _node(source, events, next(events, None), depth + 1)
        if key.text is None or value is None:
            raise source.error("a mapping has a key that is not a word", key.line)
        if key.text in items:
            raise source.error(f"key {key.text[:40]!r} occurs twice", key.line)
        items[key.text], value.key = value, key
    return Node(line, items=items)


_resolver: Any = Resolver()
_constructor: Any = SafeConstructor()
_NUMBERS = {  # called directly, as construct_object keeps all it ever made
    "tag:yaml.org,2002:int": _constructor.construct_yaml_int,
    "tag:yaml.org,2002:float": _constructor.construct_yaml_float,
    "tag:yaml.org,2002:bool": _constructor.construct_yaml_bool,
}


def scalar(source: Source, node: Node) -> str | int | float | bool:
    """The value that YAML gives a scalar: text, a number or a truth value."""
    if node.text is None:
        raise source.error("a single value was expected", node.line)
    if not node.plain:
        return node.text
    tag = _resolver.resolve(yaml.ScalarNode, node.text, (True, False))
    if tag in _NUMBERS:
        try:
            value: int | float | bool = _NUMBERS[tag](yaml.ScalarNode(tag, node.text))
            float(value)  # an integer beyond float64 overflows here
            return value
        except (ValueError, OverflowError, ConstructorError):
            raise source.error(f"number {node.text[:40]!r} cannot be read", node.line) from None
    return node.text
