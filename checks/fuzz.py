"""Mutated files for every reader: only `FormatError` may come out, soon, and without much memory.

Half of the inputs are splices of two valid files of one format, cut where their structure allows: a block in brackets,
an element, an entry with all that is indented below it, a line or a word of one takes the place of one of the other.
The rest is cut, repeated and overwritten blindly. Answers, evidence, plans, traces, results and checkpoints are read,
too (`tests.formats.kept`).

Run ``python -m checks.fuzz --count 100000`` (or ``make fuzz``); the tests run the first 2,000.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import itertools
import lzma
import random
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from tests.formats import kept
from tests.formats.networks import random_network
from tests.formats.test_meanings import KEYWORDS
from tests.problem.globals.definitions import KINDS
from tests.problem.globals.test_globals import posted
from tests.problems import random_problem

from checks.records import Clock
from dabp.errors import DabpError, FormatWarning
from dabp.formats import FORMATS, read, write
from dabp.formats.evidence import read_evidence
from dabp.formats.solution import read_solution
from dabp.formats.text import split_suffix
from dabp.problem import Problem

_GOOD = Path(__file__).parents[1] / "tests" / "data" / "good"
_WORDS = (  # noqa: SIM905 - a list would take a line for each word
    "0 1 -1 2 3 7 99 1e9 -5 0.5 1e400 -inf inf nan 999999999999 4096 18446744073709551616 -9223372036854775808 "
    "9007199254740993 1.5e-320 0x10 1_000 ٣ é [ ] { } < > & &amp; &x; \" ' | : .. 0..9 # // - ? *a !!int salldiff "
    "knapsack clique var dec hard lin quad wdec edit weight wamong sgcc wregular sgrammar wcsp MST max knapsackv "
    " >= MARKOV infinity soft supports true null ~ x x0 (((( )))) ** if else return abs( "
    "min(1,2) round( (1/x)**0 lambda:0 __class__ 10**10**10 source function values default"
).split()
_WORDS += ["\0", "\x0b", "\u2028", "&a ", "\n", "\n\n", "\r\n", " ", "\t", "- ", "|\n", " if ", " else "]


@dataclass
class Report:
    """What a run of the fuzzer saw."""

    inputs: int = 0
    read: int = 0
    slowest: float = 0.0
    slowest_input: bytes = b""
    failures: list[tuple[str, bytes, str]] = field(default_factory=list)

    @property
    def megabytes(self) -> float:
        """The peak memory of the process."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


_ANSWERED = Problem([2, 3, 2], labels=[("no", "yes"), None, (1.5, 2.5)], variable_names=["a", "b c", "d"])
_ANSWERS = (
    *('{"a": "yes", "b c": 2, "d": 1.5}', '{"assignment": {"a": "no", "b c": 0, "d": 2.5}, "cost": null}', "[1, 2, 0]"),
    *("MPE 1 3 1 2 0", "MPE\n3 0 0 0\n-BEGIN-\n3 1 2 0\n", "1 2 0", "a=yes d=1.5 x=3\n"),
)
_ASSIGNMENT = b"3\n\n0 5 2\n5 0 3\n2 3 0\n\n0 8 15\n8 0 13\n15 13 0\n"
_EVIDENCE = ("2 0 1 2 1", "1\n2 0 1 2 1\n", "0", "1 1 2")

READERS: dict[str, Callable[[IO[bytes]], Any]] = {
    **{name: partial(read, format=name) for name in FORMATS},
    "solution": lambda stream: read_solution(stream, _ANSWERED),
    "evidence": lambda stream: read_evidence(stream, _ANSWERED),
    **kept.READERS,
}
"""Name → what reads such files."""


def seeds() -> list[tuple[str, bytes]]:
    """Good files of every format, made by hand and by our writers."""
    found = []
    for path in sorted(_GOOD.iterdir()):
        suffix = split_suffix(path.name)[0]
        found.append((next(name for name, one in FORMATS.items() if suffix in one.suffixes), path.read_bytes()))
    for name in FORMATS:
        if name in ("opengm", "qaplib", "pre"):
            continue  # only read
        for seed in range(4):
            stream = io.BytesIO()
            write(_fitting(name, seed), stream, name)
            found.append((name, stream.getvalue()))
    found += [("wcsp", _keyword_file(keyword.split()[0], make)) for keyword, make in KEYWORDS.items()]
    for kind, name in itertools.product(KINDS, ("wcsp", "cfn")):
        stream = io.BytesIO()
        write(posted(KINDS[kind](np.random.default_rng(3))), stream, name)
        found.append((name, stream.getvalue()))
    found.append(("qaplib", _ASSIGNMENT))
    found += [("solution", text.encode()) for text in _ANSWERS]
    return found + [("evidence", text.encode()) for text in _EVIDENCE] + kept.texts()


def _keyword_file(keyword: str, make: Callable[[np.random.Generator], str]) -> bytes:
    """A file with one function by keyword."""
    parameters = make(np.random.default_rng(2))
    return f"p 4 4 1 99\n3 3 3 3\n4 0 1 2 3 -1 {keyword} {parameters}\n".encode()


def _fitting(name: str, seed: int) -> Problem:
    """A random problem that a format can say."""
    if FORMATS[name].module in ("bif", "xmlbif"):
        return random_network(seed, 4)
    if FORMATS[name].module not in ("qubo", "wcnf", "opb", "dcop_authors"):
        return random_problem(seed, max_variables=4)
    rng = np.random.default_rng(seed)
    if name == "authors":
        return Problem.from_tables([2, 3], [((0, 1), rng.integers(0, 9, (2, 3)))])
    if FORMATS[name].module in ("wcnf", "opb"):
        return Problem.from_qubo(rng.integers(0, 5, (4, 4)))
    couplings = np.triu(rng.integers(-3, 4, (4, 4)), 1)
    return Problem.from_ising(rng.integers(-1, 2, 4) * (name != "mc"), couplings)


def mutated(rng: random.Random, good: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    """A format and a file that once was good."""
    if (kind := rng.random()) < 0.06:
        return ("checkpoint", kept.checkpoint(rng)) if kind < 0.03 else ("opengm", kept.opengm(rng))
    name, data = rng.choice(good)
    if rng.random() < 0.5:
        others = [other for kind, other in good if kind == name]
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = spliced(rng, data, rng.choice(others))
        return name, data
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        data = _mutation(rng, data, good)
    packing = rng.random()
    if packing < 0.03:
        data = rng.choice([gzip.compress, bz2.compress, lzma.compress])(data)
        if packing < 0.02:
            data = _mutation(rng, data, good)
    return (rng.choice(list(READERS)) if rng.random() < 0.02 else name), data


_OPEN = {ord("{"): ord("}"), ord("["): ord("]"), ord("("): ord(")")}
_ELEMENT = re.compile(rb"<(\w+)[^<>]*/>|<(\w+)[^<>]*>[^<]*</\2>")


def spliced(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A file with a piece of its structure from another one of the same format."""
    kind = rng.choice([_blocks, _elements, _entries, _words, _lines])
    places, pieces = kind(data), kind(other)
    if not places or not pieces:
        places, pieces = _words(data), _words(other)
    if not places or not pieces:
        return other
    (start, end), (first, last) = rng.choice(places), rng.choice(pieces)
    keep = end if rng.random() < 0.3 else start  # beside the old piece, or in its place
    return data[:keep] + other[first:last] + data[end:]


def _blocks(data: bytes) -> list[tuple[int, int]]:
    """Pieces from a bracket to the one that closes it."""
    found, waiting = [], []
    for place, letter in enumerate(data):
        if letter in _OPEN:
            waiting.append((place, _OPEN[letter]))
        elif waiting and letter == waiting[-1][1]:
            found.append((waiting.pop()[0], place + 1))
    return found


def _elements(data: bytes) -> list[tuple[int, int]]:
    return [match.span() for match in _ELEMENT.finditer(data)]


def _entries(data: bytes) -> list[tuple[int, int]]:
    """Lines with all lines below them that are indented further."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    depth = [len(line) - len(line.lstrip()) for line in data.split(b"\n")]
    found = []
    for i in range(len(starts)):
        j = next((k for k in range(i + 1, len(starts)) if depth[k] <= depth[i]), len(starts))
        found.append((starts[i], starts[j] if j < len(starts) else len(data)))
    return found


def _words(data: bytes) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(rb"[\w.+-]+", data)]


def _lines(data: bytes) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(rb"[^\n]*\n", data)]


def _mutation(rng: random.Random, data: bytes, good: list[tuple[str, bytes]]) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    end = min(end, start + rng.choice([1, 2, 5, 20, 200]))
    words = data.split()
    match rng.randrange(9):
        case 0:
            return data[:start] + data[end:]
        case 1:
            return data[:start] + rng.choice(_WORDS).encode() + data[end:]
        case 2:
            return data[:start] + data[start:end] * rng.choice([2, 3, 50]) + data[end:]
        case 3:
            return data[:start]
        case 4:
            return data[:start] + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 5))) + data[start:]
        case 5 if words:
            word = rng.choice(words)
            return data.replace(word, rng.choice(_WORDS).encode(), rng.choice([1, 1, -1]))
        case 6 if words:
            first, second = rng.choice(words), rng.choice(words)
            return data.replace(first, second, 1)
        case 7:
            other = rng.choice(good)[1]
            place = rng.randrange(len(other) + 1)
            return data[:start] + other[place : place + 100] + data[start:]
        case _:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            return b"\n".join(lines)


def run(count: int, *, seed: int = 0, seconds: float = float("inf")) -> Report:
    """Feed `count` mutated inputs to the readers, for at most `seconds`."""
    rng, good, report = random.Random(seed), seeds(), Report()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", FormatWarning)
    start = time.monotonic()
    while report.inputs < count and time.monotonic() - start < seconds:
        name, data = mutated(rng, good)
        before = time.process_time()
        try:
            READERS[name](io.BytesIO(data))
            report.read += 1
        except DabpError as error:
            if "\n" in str(error):
                report.failures.append((name, data, "a message of several lines"))
        except Exception as error:
            report.failures.append((name, data, f"{type(error).__name__}: {error}"))
        took = time.process_time() - before
        if took > report.slowest:
            report.slowest, report.slowest_input = took, data
        report.inputs += 1
    return report


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--seed", type=int, default=0)
    clock = Clock(parser, "fuzz")
    options = parser.parse_args()
    report = run(options.count, seed=options.seed, seconds=options.seconds)
    out = sys.stdout.write
    for name, data, problem in report.failures[:20]:
        out(f"{name}: {problem}\n    {data[:400]!r}\n")
    out(
        f"{report.inputs} inputs, {report.read} still readable, {len(report.failures)} failures, "
        f"slowest {report.slowest:.2f} s, {report.megabytes:.0f} MB\n"
    )
    count = f"{report.inputs:,} inputs, slowest {report.slowest:.1f} s, {report.megabytes:.0f} MB"
    clock.ended(options, count, len(report.failures))
    if report.slowest > 1:
        out(f"slowest: {report.slowest_input[:400]!r}\n")
    sys.exit(bool(report.failures) or report.slowest > 2 or report.megabytes > 1000)


if __name__ == "__main__":
    main()
