"""Files made to be slow or large are read or refused soon, in memory that their size makes plausible."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from dabp.errors import FormatError
from dabp.formats import FORMATS, read
from tests.formats.hostile import HOSTILE, SMALL_AND_LARGE

_SIZE = 300_000  # at which quadratic time would be hours


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """End a test that does not come to its end."""

    def hung(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("a reader does not come to its end")

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_size(name: str) -> None:
    """Long runs of digits, spaces, quotes, comments, tuples and scopes are read or refused."""
    kind = HOSTILE[name]
    with contextlib.suppress(FormatError):
        read(io.StringIO(kind.make(_SIZE)), kind.format)


def test_every_format_has_its_hostile_files() -> None:
    """A new reader comes with files that were made against it."""
    assert {kind.format for kind in HOSTILE.values()} >= set(FORMATS) - {
        "maxsat",
        "authors",
        "opengm",
        "pydcop",
        "dabp",
    }  # wcnf, xml, no text, yaml, no text


@pytest.mark.parametrize("name", SMALL_AND_LARGE)
def test_what_a_small_file_may_expand_to(name: str) -> None:
    """A few kilobytes that declare a hundred megabytes are refused; the sentence tells how to raise the limit."""
    format, text = SMALL_AND_LARGE[name]
    with pytest.raises(FormatError, match=r"max_cells"):
        read(io.StringIO(text), format)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_what_a_small_compressed_file_may_expand_to(compress: Callable[[bytes], bytes]) -> None:
    """Beyond 16 MB a file may not have more than 200 times its compressed size, unless max_bytes says so."""
    data = compress(b"p 1 2 0 10\n2\n" + b" " * 2**24)
    with pytest.raises(FormatError, match=r"more than 16777216 bytes and 200 times its own size.*--max-bytes"):
        read(io.BytesIO(data), "wcsp")
    assert read(io.BytesIO(data), "wcsp", max_bytes=2**25).num_variables == 1


def test_comment_lines_take_no_memory() -> None:
    """10 MB of comment lines are read in 100 MB, where a list of all lines would not fit."""
    program = (
        "import io, resource; resource.setrlimit(resource.RLIMIT_AS, ({0}, {0}))\n"
        "from dabp.formats import read\n"
        "print([read(io.BytesIO(b'#\\n' * 5_000_000 + text), name).num_variables for name, text in "
        "(('wcsp', b'p 1 2 0 10 2'), ('uai', b'MARKOV 1 2 0'), ('cfn', b'{{problem:{{name:p,mustbe:\"<1\"}},"
        "variables:{{x:2}},functions:{{}}}}'))])"
    ).format(_baseline() + 100_000_000)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout == "[1, 1, 1]\n", run.stderr


def _baseline() -> int:
    """The address space of a process that has only imported the package."""
    program = "import dabp.formats, numpy; print([x for x in open('/proc/self/status') if x.startswith('VmPeak')][0])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return int(run.stdout.split()[1]) * 1024
