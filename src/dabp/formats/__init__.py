"""Files in and out: `read` and `write` choose the format by suffix or by name.

To add a format: write a module with ``read(source: Source) -> Problem`` and ``write(problem) -> (text pieces, notes)``,
and add a line to `FORMATS`; the round-trip and hostile-file tests pick it up.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, cast

from dabp.errors import FormatError, named_keywords
from dabp.formats.sniffing import sniffed
from dabp.formats.statements import auxiliary_notes
from dabp.formats.text import Place, open_source, place_name, split_suffix
from dabp.problem import Problem
from dabp.safe_files import replacing

if TYPE_CHECKING:
    from dabp.problem.model import Model


@dataclass(frozen=True)
class Format:
    """One file format: the module that reads and writes it, its suffixes, a line for the list.

    Attributes
    ----------
    max_bytes
        A cap below the usual one by default, where a byte costs more to parse.
    options
        Keywords that make the module's functions read and write this dialect.
    names
        Whether names of variables and values are written.
    probabilities
        Whether a cost is the negated natural logarithm of a probability.
    cuts
        Whether the weight of a cut is maximised.
    binary
        Whether it is no text, and contains everything of a problem.
    keywords
        Whether global functions are written by keyword, and noted are the auxiliary variables that are left.
    piecewise
        Whether it is read piece by piece, so that a large file is never in memory as a whole.
    """

    module: str
    suffixes: tuple[str, ...]
    summary: str
    max_bytes: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    names: bool = False
    probabilities: bool = False
    cuts: bool = False
    binary: bool = False
    keywords: bool = False
    piecewise: bool = False

    def load(self) -> Any:
        """Import the module that reads and writes it."""
        return importlib.import_module(f"dabp.formats.{self.module}")


_named = partial(Format, names=True)
_large = partial(Format, piecewise=True)
_functions = partial(_large, keywords=True)
_network = partial(Format, probabilities=True)

FORMATS: dict[str, Format] = {
    "wcsp": _functions("wcsp", (".wcsp",), "toulbar2's weighted CSP: integer costs, no names"),
    "cfn": _functions("cfn", (".cfn",), "toulbar2's networks: real costs, names, maximisation", names=True),
    "uai": _large("uai", (".uai",), "Markov and Bayesian networks of the UAI competitions", probabilities=True),
    "lg": _network("uai", (".lg",), "the same in logarithms", options={"logarithms": True}, piecewise=True),
    "xml": _named("dcop_xml", (".xml",), "XCSP 2.1, FRODO and the DABP authors' DCOP files"),
    "authors": Format("dcop_authors", (), "DCOP files as the program of DABP's authors reads them (--to authors)"),
    "yaml": _named("dcop_yaml", (".yaml", ".yml"), "pyDCOP's problems, by expression or by table", 2**24),
    "pydcop": _named("dcop_yaml", (), "the same, answered as pyDCOP answers", 2**24),
    "bif": _network("bif", (".bif",), "Bayesian networks with names, of JavaBayes, bnlearn and pgmpy", names=True),
    "xmlbif": _network("xmlbif", (".xmlbif", ".bifxml"), "the same in XML", names=True),
    "wcnf": Format("wcnf", (".wcnf", ".cnf"), "weighted MaxSAT, in the form since 2022 and before"),
    "maxsat": Format("wcnf", (), "the same, answered in the evaluations' lines"),
    "opb": Format("opb", (".opb", ".wbo"), "pseudo-Boolean optimisation, with soft constraints too"),
    "pre": Format("pre", (".pre",), "pedigrees: the fewest wrong genotypes, read only"),
    "opengm": Format("opengm", (".h5", ".hdf5"), "OpenGM 2 models in HDF5, read only (needs h5py)"),
    "qaplib": Format("qaplib", (".dat", ".qap"), "quadratic assignments of QAPLIB, read only"),
    "qubo": Format("qubo", (".qubo",), "qbsolv's QUBO files", options={"dialect": "qubo"}),
    "coo": Format("qubo", (".coo",), "QUBO and Ising terms of dimod", options={"dialect": "coo"}),
    "qpbo": Format("qubo", (".qpbo",), "toulbar2's quadratic programs", options={"dialect": "qpbo"}),
    "mc": Format("qubo", (".mc", ".rud", ".rudy", ".txt"), "max-cut: Gset, rudy", options={"dialect": "mc"}, cuts=True),
    "dabp": Format("binary", (".dabp",), "our own binary form: small, whole, and open in a moment", binary=True),
    "bq": Format("qubo", (".bq", ".sparse"), "Biq Mac's quadratic programs", options={"dialect": "bq"}),
}


@named_keywords
def read(
    place: Place,
    format: str | None = None,
    *,
    max_cells: int | None = None,
    max_bytes: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Problem:
    """Read a problem from a file, an open stream, or standard input (``"-"``, which needs `format`).

    Parameters
    ----------
    place
        A path (``.gz``, ``.bz2`` and ``.xz`` are decompressed), ``"-"`` or a stream.
    format
        A name in `FORMATS`; by default the suffix decides, for ``.txt`` the content.
    max_cells
        The most table cells the file may declare: by default 2^22, 16 per byte of it up to 2^24, or one per byte,
        whichever is most; 2^24 at least for ``.wcsp`` and ``.cfn``. The limits on values, cost functions and entries
        follow it (`dabp.formats.meter`).
    max_bytes
        The most bytes after decompression: by default 2^28, 2^24 for YAML, and from 2^24 on not more than 200 times
        the compressed size; 2^32 for plain files of the formats that are read piece by piece: ``.wcsp``, ``.cfn``,
        ``.uai`` and ``.LG``.
    progress
        Called while a large file of these is read, with how many bytes are read and of how many.
    """
    if isinstance(place, str | os.PathLike) and os.path.isdir(place):
        raise FormatError("this is a folder, not a file", source=place_name(place))
    line = format_of(place, format)
    most = line.max_bytes if max_bytes is None else max_bytes
    decided = format is not None or split_suffix(place_name(place))[0] != ".txt"
    source = open_source(
        place, max_bytes=most, max_cells=max_cells, piecewise=line.piecewise and decided, progress=progress
    )
    if format is None and split_suffix(source.name)[0] == ".txt":
        line = FORMATS[sniffed(source)]
    try:
        return cast(Problem, line.load().read(source, **line.options))
    finally:
        source.release()


@named_keywords
def write(problem: Problem | Model, place: Place, format: str | None = None) -> list[str]:
    """Write a problem; what comes back are notes on what the format could not say exactly, best shown to people.

    What a format cannot express at all is refused with a `FormatError` before anything is written.
    """
    problem = built(problem)
    line = format_of(place, format)
    try:
        if line.names:
            _check_names(problem)
        pieces, notes = line.load().write(problem, **line.options)
    except FormatError as error:
        raise FormatError(error.message, source="standard output" if place == "-" else place_name(place)) from None
    write_text(place, pieces)
    if line.binary:
        return cast(list[str], notes)
    if not line.keywords:
        notes = [*notes, *auxiliary_notes(problem)]
    if problem.limit is not None:
        notes = [*notes, f"the bound on the total, {problem.limit:g}, is left out: worse assignments become feasible"]
    return cast(list[str], notes)


def built(problem: object) -> Problem:
    """The problem, built if it is a `Model`; `FormatError` for anything else."""
    from dabp.problem.model import Model

    if isinstance(problem, Model):
        return problem.build()
    if not isinstance(problem, Problem):
        raise FormatError("a Problem was expected; dabp.write_solution(result, problem, place) writes an answer")
    return problem


def _check_names(problem: Problem) -> None:
    """Complain about names that no reader takes back: line breaks, control characters, marks of direction."""
    values = map(problem.names.labels, range(problem.num_variables if problem.names.value_labels else 0))
    for name in chain(
        (problem.name,),
        problem.names.variable_names or (),
        map(problem.names.factor, range(problem.num_factors)),
        chain.from_iterable(labels for labels in values if not isinstance(labels, range)),
    ):
        if isinstance(name, str) and not name.isprintable():
            raise FormatError(f"a name has characters that cannot be printed: {name[:40]!r}")


def write_text(place: Place, pieces: Iterable[str | bytes]) -> None:
    """Write text, or bytes, to a path (compressed by its suffix), standard output (``"-"``) or a stream."""
    if not isinstance(place, str | os.PathLike):
        _write_stream(place, pieces)
        return
    path = os.fspath(place)
    if path == "-":
        sys.stdout.flush()
        _write_stream(getattr(sys.stdout, "buffer", sys.stdout), pieces)  # UTF-8, whatever the terminal's encoding
        return
    packed = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(split_suffix(path)[1])
    try:
        with replacing(path, "wb") as file:
            if packed is None:
                _write_stream(file, pieces)
            else:
                with cast(Any, packed)(file, "wb") as stream:
                    _write_stream(stream, pieces)
    except OSError as error:
        raise FormatError(f"it cannot be written ({error.strerror or error})", source=path) from None


def _write_stream(stream: IO[str] | IO[bytes], pieces: Iterable[str | bytes]) -> None:
    if hasattr(stream, "encoding"):
        for piece in pieces:
            if isinstance(piece, bytes):
                raise FormatError("this format is binary: it needs a stream of bytes, not of text")
            cast(IO[str], stream).write(piece)
    else:
        cast(IO[bytes], stream).writelines(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)


def format_of(place: Place, format: str | None) -> Format:
    """The format of this name, or that a place's suffix tells."""
    if format is not None:
        if format.lower() in FORMATS:
            return FORMATS[format.lower()]
        raise FormatError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    name = place_name(place)
    suffix = split_suffix(name)[0]
    for line in FORMATS.values():
        if suffix in line.suffixes:
            return line
    if suffix == ".bep":
        raise FormatError("satellite photographs (.bep) are not read; toulbar2 turns them into .wcsp (-z)", source=name)
    if suffix in (".json", ".sol", ".mpe", ".csv"):
        raise FormatError("its name is that of an answer, which dabp.write_solution writes", source=name)
    known = ", ".join(suffix for line in FORMATS.values() for suffix in line.suffixes)
    raise FormatError(f"its name does not tell the format ({known}); name one with format (--format)", source=name)
