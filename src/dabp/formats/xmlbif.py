"""Bayesian networks in XML (``.xmlbif``, ``.bifxml``, or ``.xml`` with a root ``<BIF>``); see docs/formats/bif.md."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

import numpy as np

from dabp.errors import FormatError
from dabp.formats.bayes import Network, distributions
from dabp.formats.numerals import parse_list
from dabp.formats.text import Source
from dabp.formats.xml_tree import Node, parse
from dabp.problem import Problem


def read(source: Source) -> Problem:
    """Parse an XMLBIF file."""
    return from_tree(source, parse(source))


def from_tree(source: Source, root: Node) -> Problem:
    """The network of a parsed file."""
    network = root.find("NETWORK")
    if root.tag != "BIF" or network is None:
        raise source.error(f"the root element is <{root.tag}>, <BIF> with a <NETWORK> was expected", root.line)
    draft = Network(source)
    for node in network.findall("VARIABLE"):
        _variable(source, draft, node)  # type: ignore[arg-type]
    for tag in ("DEFINITION", "PROBABILITY"):  # the second is what version 0.2 calls it
        for node in network.findall(tag):
            _definition(source, draft, node)  # type: ignore[arg-type]
    return draft.problem((network.findtext("NAME") or source.stem).strip())


def _variable(source: Source, network: Network, node: Node) -> None:
    if node.get("TYPE", "nature").lower() != "nature":
        raise source.error(f"variables of type {node.get('TYPE', '')[:40]!r} are not supported, only nature", node.line)
    states = [(one.text or "").strip() for one in [*node.findall("OUTCOME"), *node.findall("VALUE")]]
    network.add_variable(_text(source, node, "NAME"), states, node.line)


def _text(source: Source, node: Node, tag: str) -> str:
    text = (node.findtext(tag) or "").strip()
    if not text:
        raise source.error(f"<{node.tag}> has no <{tag}>", node.line)
    return text


def _definition(source: Source, network: Network, node: Node) -> None:
    child = _text(source, node, "FOR")
    parents = [(one.text or "").strip() for one in node.findall("GIVEN")]
    scope, shape = network.scope(child, parents, node.line)
    text = _text(source, node, "TABLE")
    numbers = parse_list(text)
    if numbers is None:
        raise source.error(f"the table of {child[:40]!r} has something that is not a number", node.line)
    if numbers.size != int(np.prod(shape)):
        count = int(np.prod(shape))
        raise source.error(f"{child[:40]!r} needs a table of {count} probabilities, {numbers.size} found", node.line)
    network.add_table(scope, numbers.reshape(shape), child, node.line)


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of an XMLBIF file, and notes on what it could not say."""
    factors = distributions(problem)
    texts = [
        *problem.names.variables,
        *(str(one) for i in range(problem.num_variables) for one in problem.names.labels(i)),
    ]
    for text in texts:
        if text != text.strip() or not text:
            raise FormatError(
                f"{text!r} cannot be a name in XMLBIF, which has no spaces around names and no empty ones"
            )
    notes = []
    if any(not isinstance(one, str) for i in range(problem.num_variables) for one in problem.names.labels(i)):
        notes.append("values that are numbers are written as text")
    return _lines(problem, factors), notes


def _lines(problem: Problem, factors: list[int]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'
    yield f"<NAME>{escape(problem.name)}</NAME>\n"
    for i, name in enumerate(problem.names.variables):
        outcomes = "".join(f"  <OUTCOME>{escape(str(one))}</OUTCOME>\n" for one in problem.names.labels(i))
        yield f'<VARIABLE TYPE="nature">\n  <NAME>{escape(name)}</NAME>\n{outcomes}</VARIABLE>\n'
    for f in factors:
        *parents, child = (escape(problem.names.variable(v)) for v in problem.scope(f).tolist())
        given = "".join(f"  <GIVEN>{name}</GIVEN>\n" for name in parents)
        table = " ".join(map(repr, np.exp(-problem.cells(f)).tolist()))
        yield f"<DEFINITION>\n  <FOR>{child}</FOR>\n{given}  <TABLE>{table}</TABLE>\n</DEFINITION>\n"
    yield "</NETWORK>\n</BIF>\n"
