"""XML as a tree that knows its lines, of limited depth and size; entities are refused."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from dabp.formats.text import Source


class Node(Element):
    """An element that knows its line; without a dictionary of its own, which would take more than the element."""

    __slots__ = ("line",)

    line: int


def parse(source: Source) -> Node:
    """The root element of a file."""
    depth, short = 0, dict[str, str]()

    def node(tag: str, attributes: dict[str, str]) -> Element:
        for key, value in attributes.items():  # arities, semantics and domains are the same again and again
            if len(value) <= 4:
                attributes[key] = short.setdefault(value, value)
        made = Node(tag, attributes)
        made.line = parser.parser.CurrentLineNumber
        return made

    class Builder(TreeBuilder):
        def start(self, tag: str, attributes: dict[str, str]) -> Any:
            nonlocal depth
            depth += 1
            source.meter.take_tokens(1, lambda: int(parser.parser.CurrentLineNumber))
            if depth > 50:
                raise source.error("elements are nested more than 50 deep", parser.parser.CurrentLineNumber)
            return super().start(tag, attributes)

        def end(self, tag: str) -> Element:
            nonlocal depth
            depth -= 1
            return super().end(tag)

    parser: Any = DefusedXMLParser(target=Builder(element_factory=node))
    try:
        data = source.data
        source.release()
        parser.feed(data)
        del data
        return parser.close()  # type: ignore[no-any-return]
    except DefusedXmlException as error:
        what = type(error).__name__.replace("Forbidden", "").lower()
        raise source.error(f"XML entities are refused ({what})", parser.parser.CurrentLineNumber) from None
    except ParseError as error:
        line = error.position[0]
        raise source.error(f"this is not well-formed XML ({str(error).split(':')[0]})", line) from None
    except (ValueError, LookupError) as error:  # an encoding that expat does not know
        raise source.error(f"this is not readable XML ({error})") from None
