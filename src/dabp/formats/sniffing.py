"""What a file of a name that does not tell, as ``G32.txt``, is by its first lines."""

from __future__ import annotations

import re

from dabp.formats.text import Source

_FIRST_LINES: list[tuple[re.Pattern[bytes], str]] = [
    (re.compile(rb"p\s+qubo\b"), "qubo"),
    (re.compile(rb"p\s+w?cnf\b|h\s+-?[0-9]"), "wcnf"),
    (re.compile(rb"(?:MARKOV|BAYES)\b", re.IGNORECASE), "uai"),
    (re.compile(rb"network\b"), "bif"),
    (re.compile(rb"[{]"), "cfn"),
    (re.compile(rb"<"), "xml"),
    (re.compile(rb"(?:name|objective|domains|variables|constraints|agents)[ \t]*:"), "yaml"),
    (re.compile(rb"\*|(?:min|max|soft)[ \t]*:|\[[0-9]+\]|[+-]?[0-9]+[ \t]+~?[A-Za-z_]"), "opb"),
    (re.compile(rb"[0-9]+[ \t]+[0-9]+[ \t]*\r?(?:\n|$)"), "mc"),
    (re.compile(rb"-?[0-9]+[ \t]+-?[0-9]+[ \t]*\r?(?:\n|$)"), "qpbo"),
    (re.compile(rb"[0-9]+(?:[ \t]+-?[0-9]+){6}[ \t]*\r?(?:\n|$)"), "pre"),
    (re.compile(rb"[0-9]+[ \t]+[0-9]+[ \t]+[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?[ \t]*\r?(?:\n|$)"), "coo"),
    (re.compile(rb"[^\s]+(?:[ \t]+[0-9]+){4}[ \t]*\r?(?:\n|$)"), "wcsp"),
]
"""How the first line that is no comment starts, and the format's name; the first that fits counts."""


def sniffed(source: Source) -> str:
    """The name of the format that a file looks like."""
    beginning = source.data[: 2**16].removeprefix(b"\xef\xbb\xbf")
    for line in beginning.split(b"\n"):
        line = line.strip()
        if line and not re.match(rb"#|//|c(?:\s|$)", line):
            for start, name in _FIRST_LINES:
                if start.match(line):
                    return name
            break
    raise source.error("its content does not tell the format; name one with format (--format)", 1)
