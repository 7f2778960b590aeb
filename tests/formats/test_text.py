"""Where bytes come from: paths, streams, compressed data, and never too many of them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dabp.errors import FormatError, FormatWarning
from dabp.formats import FORMATS, read, write
from dabp.problem import Problem
from tests.problems import random_problem

_TEXT = b"p 2 2 1 10\n2 2\n1 0 3 0\n"


def test_streams_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text and byte streams and standard input are read the same, compressed or not."""
    expected = read(io.BytesIO(_TEXT), "wcsp")
    assert read(io.StringIO(_TEXT.decode()), "WCSP") == expected
    assert read(io.BytesIO(gzip.compress(_TEXT)), "wcsp") == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lzma.compress(_TEXT)), encoding="utf-8"))
    assert read("-", "wcsp") == expected


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    """``-`` writes to standard output."""
    write(read(io.BytesIO(_TEXT), "wcsp"), "-", "wcsp")
    assert capsys.readouterr().out.startswith("p 2 2 1 ")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_several_streams_in_one_file(compress: Callable[[bytes], bytes]) -> None:
    """Concatenated compressed streams are one text."""
    data = compress(_TEXT[:10]) + compress(_TEXT[10:])
    assert read(io.BytesIO(data), "wcsp") == read(io.BytesIO(_TEXT), "wcsp")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_bombs(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A small file that unpacks to more than the limit is refused by name of the limit, having unpacked no more."""
    suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[compress]
    path = tmp_path / f"bomb.wcsp.{suffix}"
    path.write_bytes(compress(bytes(4_000_000)))
    with pytest.raises(FormatError, match=r"more than 1000000 bytes when decompressed; .*--max-bytes"):
        read(path, max_bytes=1_000_000)


def test_limits_can_be_raised_and_lowered() -> None:
    """max_cells is what decides about tables."""
    text = b"p 2 100 1 10\n100 100\n2 0 1 0 0\n"
    with pytest.raises(FormatError, match=r":3: its tables would have 10000 cells.*--max-cells"):
        read(io.BytesIO(text), "wcsp", max_cells=9_999)
    assert len(read(io.BytesIO(text), "wcsp", max_cells=10_000).pool) == 10_000


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.wcsp", "there is no such file"),
        ("folder.wcsp", "this is a folder, not a file"),
        ("folder", "this is a folder, not a file"),
        ("unknown.data", "its name does not tell the format"),
        ("nul\0.wcsp", "it cannot be read"),
    ],
)
def test_places_that_are_no_files(name: str, reason: str, tmp_path: Path) -> None:
    """One clear sentence instead of an exception of the system."""
    (tmp_path / "folder.wcsp").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "unknown.data").write_bytes(_TEXT)
    with pytest.raises(FormatError, match=reason):
        read(f"{tmp_path}/{name}")


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    """A missing folder and an unknown format are said, too."""
    problem = random_problem(0)
    with pytest.raises(FormatError, match="it cannot be written"):
        write(problem, tmp_path / "missing" / "a.wcsp")
    with pytest.raises(FormatError, match="there is no format 'csv'; there are wcsp"):
        write(problem, tmp_path / "a.wcsp", "csv")


@pytest.mark.parametrize(("value", "name"), [(object(), "x.uai"), (random_problem(0), "x.csv")])
def test_answers_are_written_by_another_function(value: Problem, name: str, tmp_path: Path) -> None:
    """A result, or the name of a file of one, is refused by naming that function."""
    with pytest.raises(FormatError, match="write_solution"):
        write(value, tmp_path / name)


def test_warnings_stand_at_the_callers_line(tmp_path: Path) -> None:
    """One sentence with the file and its line, shown where the reader is called and not inside of it."""
    path = tmp_path / "a.bif"
    path.write_text(
        "network n { }\nvariable a { type discrete [ 2 ] { t, f }; }\nprobability ( a ) { table 0.5 0.3; }\n"
    )
    with pytest.warns(FormatWarning, match=r"^\S*a.bif:3: the probabilities of 'a' add up to 0.8, not to 1$") as caught:
        read(path)
    assert caught[0].filename == __file__


def test_refusals_leave_files_alone(tmp_path: Path) -> None:
    """What cannot be written does not overwrite what is there."""
    path = tmp_path / "a.uai"
    path.write_text("kept")
    with pytest.raises(FormatError, match=r"\.LG"):
        write(read(io.BytesIO(b"p 1 2 1 10000\n2\n1 0 900 1\n0 0\n"), "wcsp"), path)
    assert path.read_text() == "kept"


def test_names_cannot_steer_terminals() -> None:
    """Control characters in a problem's name are replaced; variables and values cannot have any."""
    assert read(io.BytesIO(b"a\x1b[31m/../b 0 0 0 1\n"), "wcsp").name == "a?[31m/../b"
    text = '{problem: {name: p, mustbe: <1}, variables: {"x\\u001b": 2}, functions: {}}'.replace("\\u001b", "\x1b")
    with pytest.raises(FormatError, match="characters that cannot be printed"):
        read(io.StringIO(text), "cfn")


def test_readers_import_nothing_heavy() -> None:
    """Reading a file must not wait for PyTorch or Numba."""
    import subprocess

    code = (
        "import sys; from dabp.formats import FORMATS; [one.load() for one in FORMATS.values()]; "
        "sys.exit(any(heavy in sys.modules for heavy in ('torch', 'numba', 'matplotlib')))"
    )
    assert len(FORMATS) >= 10
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
