"""Large files, read piece by piece: what they say is what they say when read at once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dabp
from dabp.errors import DabpError, FormatError
from dabp.formats import large
from dabp.formats.comments import Blanking, without_comments
from dabp.formats.large import LargeFile, pieces

DATA = Path(__file__).parents[1] / "data"
PIECEWISE = ("*.wcsp", "*.cfn", "*.uai", "*.LG")


@pytest.fixture
def small_pieces(monkeypatch):
    """Every file is large, and comes in pieces of some bytes."""
    monkeypatch.setattr(large, "LARGE", 1)

    def of(size):
        monkeypatch.setattr(large, "PIECE", size)

    return of


def _outcome(place):
    """The problem in full, or what is said about it."""
    try:
        problem = dabp.read(place, format=Path(getattr(place, "name", place)).suffix[1:].lower())
    except DabpError as error:
        return str(error)
    return (
        problem.name,
        problem.domain_sizes.tolist(),
        problem.scope_variables.tolist(),
        problem.scope_offsets.tolist(),
        problem.pool[problem.pool == problem.pool].tolist(),
        problem.factor_table.tolist(),
        problem.constant,
        problem.maximize,
        problem.limit,
        problem.names.variables,
    )


@pytest.mark.parametrize("size", [1, 7, 64])
def test_every_file_says_the_same_in_pieces(small_pieces, size):
    """All files of the tests, good and malformed: the same problem, or the same complaint at the same line."""
    paths = sorted(path for pattern in PIECEWISE for path in DATA.rglob(pattern))
    assert len(paths) > 10
    for path in paths:
        stream = io.BytesIO(path.read_bytes())
        stream.name = str(path)
        small_pieces(size)
        parted = _outcome(path)
        small_pieces(2**20)
        assert parted == _outcome(stream), path.name


WORDS = (
    '{"problem": {"name": "p", "mustbe": "<9"}, ',
    '"variables": {"a b": 2, "c": 2}, ',
    '"functions": {',
    '"f": {"scope": ["a b", "c"], "costs": [1, 2,\n3, 4]}',
    *("}}", "\n", "# x\n", "// y\n", ", ", '"', "\u00e9", "\u00e9: [", "]"),
)
CFN = st.lists(st.sampled_from(WORDS), max_size=12).map(lambda parts: "".join(parts).encode())


@given(CFN, st.integers(1, 9))
def test_words_that_pieces_part(data, size):
    """Quotes, comments, lists and letters of two bytes, wherever a piece ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "PIECE", 2**20)
        whole = _outcome(_named(data))
        patch.setattr(large, "PIECE", size)
        assert _outcome(_named(data)) == whole


NUMBERS = {
    "wcsp": b"name 3 3 3 29\n2 3 2\n2 0 1 0 2\n0 0 4\n1 2 17\n1 2 1 1\n0 5\n2 1 2 -1 >= 1 2\n",
    "uai": b"MARKOV\n3\n2 3 2\n2\n2 0 1\n1 2\n\n6\n0.1 0.2 0.3 0.1 0.2 0.1\n2\n0.25 0.75\n",
    "lg": b"MARKOV\n3\n2 3 2\n2\n2 0 1\n1 2\n\n6\n0.1 -0.2 1e-3 -inf 0.2 0.1\n2\n0.25 0.75\n",
    "wcnf": b"p wcnf 3 4 10\n10 1 -2 0\n3 -1 0\n2 2 3 0\n1 -3 0\n",
}
INSERTED = st.tuples(
    st.integers(0, 200),
    st.sampled_from(
        [b"\r\n", b"\r", b"\n# c 1 2\n", b"#", b"\xef\xbb\xbf", b"29-1", b"+", b"\x00", b" 7", b"inf", b"\xe9", b" \n "]
    ),
)


@pytest.mark.parametrize("format", NUMBERS)
@given(st.lists(INSERTED, max_size=4), st.booleans(), st.integers(1, 40))
def test_numbers_that_pieces_part(format, inserted, windows, size):
    """Marks, ends of lines, comments and words put anywhere: the same problem, or the same complaint at its line."""
    data = NUMBERS[format].replace(b"\n", b"\r\n") if windows else NUMBERS[format]
    for place, part in inserted:
        data = data[:place] + part + data[place:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "PIECE", 2**20)
        whole = _outcome(_named(data, format))
        patch.setattr(large, "PIECE", size)
        assert _outcome(_named(data, format)) == whole


@pytest.mark.parametrize("format", NUMBERS)
@pytest.mark.parametrize("kind", ["gz", "xz", "bz2"])
def test_compressed_files_cut_short_are_refused(tmp_path, format, kind):
    """Wherever they end: half of a problem is none."""
    compress = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}[kind]
    data = compress(NUMBERS[format])
    path = tmp_path / f"x.{format}.{kind}"
    path.write_bytes(data)
    assert dabp.read(path).num_variables == 3
    for end in range(0, len(data), 5):
        path.write_bytes(data[:end])
        with pytest.raises(FormatError):
            dabp.read(path)


def _named(data, suffix="cfn"):
    stream = io.BytesIO(data)
    stream.name = f"x.{suffix}"
    return stream


@given(
    st.lists(st.sampled_from([b"#", b"/", b"//", b" ", b"\n", b"1", b"12 ", b"\t", b"a"]), max_size=30).map(b"".join),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_comments_that_pieces_part(data, size, trailing, slashes):
    """Blanked piece by piece as at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "PIECE", size)
        blanking = Blanking(trailing=trailing, slashes=slashes)
        parts = list(pieces(data))
        assert b"".join(parts) == data
        assert b"".join(map(blanking, parts)) == without_comments(data, trailing=trailing, slashes=slashes)


def test_progress_is_told_to_the_end(tmp_path, small_pieces):
    """It rises to the size of the file."""
    small_pieces(64)
    problem = dabp.generate("random-cop", variables=20, domain=3, density=0.5, seed=0)
    for suffix in ("wcsp", "cfn", "uai", "LG"):
        path = tmp_path / f"x.{suffix}"
        dabp.write(problem.replace(pool=problem.pool / 100) if suffix == "uai" else problem, path)
        calls: list[tuple[int, int]] = []
        again = dabp.read(path, progress=lambda *count, calls=calls: calls.append(count))
        assert again.num_factors == problem.num_factors
        assert calls == sorted(calls)
        assert calls[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_file_that_shrinks_is_told(tmp_path):
    """It is not taken for one that ends there."""
    path = tmp_path / "x"
    path.write_bytes(bytes(range(100)))
    file = LargeFile(path, "x")
    assert file[10:12] == bytes([10, 11])
    assert len(file) == 100
    path.write_bytes(b"short")
    with pytest.raises(FormatError, match="became shorter"):
        file[10:12]
    file.close()


def test_the_most_bytes_hold_for_large_files(tmp_path, small_pieces):
    """A limit that is given is one for them, too; compressed ones go the other way whatever their name."""
    import gzip

    small_pieces(64)
    path = tmp_path / "x.uai"
    path.write_text("MARKOV\n1\n2\n1\n1 0\n2\n0.25 0.75\n")
    assert dabp.read(path).cost(np.array([1])) == pytest.approx(-np.log(0.75))
    with pytest.raises(FormatError, match="max_bytes"):
        dabp.read(path, max_bytes=10)
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert dabp.read(path).num_variables == 1
