"""Mutated files for every reader: only `FormatError` may come out, soon, and without much memory.

Run ``python -m tests.formats.fuzz --count 100000`` (or ``make fuzz``); the tests run the first 2,000.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import random
import resource
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from dabp.errors import FormatError
from dabp.formats import FORMATS, read, write
from dabp.formats.text import split_suffix
from tests.problems import random_problem

_GOOD = Path(__file__).parents[1] / "data" / "good"
_WORDS = [
    *("0", "1", "-1", "2", "3", "7", "99", "1e9", "-5", "0.5", "1e400", "-inf", "inf", "nan", "999999999999", "4096"),
    *("18446744073709551616", "-9223372036854775808", "1.5e-320", "0x10", "1_000", "٣", "é", "\0", "\x0b", "\u2028"),
    *(
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "&",
        "&amp;",
        "&x;",
        '"',
        "'",
        "|",
        ":",
        "..",
        "0..9",
        "#",
        "//",
        "-",
        "?",
        "*a",
        "&a ",
    ),
    *(
        "salldiff",
        "knapsack",
        "clique",
        "var",
        "dec",
        ">=",
        "MARKOV",
        "infinity",
        "soft",
        "supports",
        "true",
        "null",
        "~",
    ),
    *(
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "\t",
        "- ",
        "!!int ",
        "|\n",
        "x",
        "x0",
        "((((",
        "))))",
        "**",
        " if ",
        " else ",
        "return ",
    ),
    *("abs(", "min(1, 2)", "round(", "lambda: 0", "__class__", "10**10**10", "source", "function", "values", "default"),
]


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
        """The most memory the process has held."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seeds() -> list[tuple[str, bytes]]:
    """Good files of every format, made by hand and by our writers."""
    found = []
    for path in sorted(_GOOD.iterdir()):
        suffix = split_suffix(path.name)[0]
        found.append((next(name for name, one in FORMATS.items() if suffix in one.suffixes), path.read_bytes()))
    for name in FORMATS:
        for seed in range(4):
            stream = io.BytesIO()
            write(random_problem(seed, max_variables=4), stream, name)
            found.append((name, stream.getvalue()))
    return found


def mutated(rng: random.Random, good: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    """A format and a file that once was good."""
    name, data = rng.choice(good)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        data = _mutation(rng, data, good)
    packing = rng.random()
    if packing < 0.03:
        data = rng.choice([gzip.compress, bz2.compress, lzma.compress])(data)
        if packing < 0.02:
            data = _mutation(rng, data, good)
    return (rng.choice(list(FORMATS)) if rng.random() < 0.02 else name), data


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
    """Feed so many mutated inputs to the readers, for at most so long."""
    rng, good, report = random.Random(seed), seeds(), Report()
    warnings.simplefilter("error")
    start = time.monotonic()
    while report.inputs < count and time.monotonic() - start < seconds:
        name, data = mutated(rng, good)
        before = time.perf_counter()
        try:
            read(io.BytesIO(data), name)
            report.read += 1
        except FormatError as error:
            if "\n" in str(error):
                report.failures.append((name, data, "a message of several lines"))
        except Exception as error:
            report.failures.append((name, data, f"{type(error).__name__}: {error}"))
        took = time.perf_counter() - before
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
    options = parser.parse_args()
    report = run(options.count, seed=options.seed, seconds=options.seconds)
    out = sys.stdout.write
    for name, data, problem in report.failures[:20]:
        out(f"{name}: {problem}\n    {data[:400]!r}\n")
    out(
        f"{report.inputs} inputs, {report.read} still readable, {len(report.failures)} failures, "
        f"slowest {report.slowest:.2f} s, {report.megabytes:.0f} MB\n"
    )
    if report.slowest > 1:
        out(f"slowest: {report.slowest_input[:400]!r}\n")
    sys.exit(bool(report.failures) or report.slowest > 2 or report.megabytes > 1000)


if __name__ == "__main__":
    main()
