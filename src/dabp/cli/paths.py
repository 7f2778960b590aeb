"""The files that a command will need, looked at before its work: an answer found in hours must have a place to go."""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dabp.errors import FormatError, ParameterError


def check_problems(files: Iterable[str], format: str | None) -> None:
    """Complain, in the words of the readers, about a problem file of unknown format or one that cannot be read."""
    from dabp.formats import format_of

    for file in files:
        check_input(file)
        format_of(file, format)


def check_input(place: str | Path | None) -> None:
    """Complain, in the words of the readers, if a file cannot be read; None and ``-`` are no files.

    It is not opened: a pipe can be opened only once.
    """
    if place is None or str(place) == "-":
        return
    if not os.path.exists(place):
        raise FormatError("there is no such file", source=str(place))
    if os.path.isdir(place):
        raise FormatError("this is a folder, not a file", source=str(place))
    if not os.access(place, os.R_OK):
        raise FormatError("reading it is not permitted", source=str(place))


def check_target(place: str, format: str | None) -> None:
    """Complain if a problem cannot be written to a place: unknown format, or `check_output`."""
    from dabp.formats import format_of

    try:
        format_of(place, format)
    except FormatError as error:
        raise FormatError(error.message.replace("--format", "--to"), source=error.source) from None
    check_output(place)


def check_output(place: str | Path | None, *, replaced: bool = False) -> None:
    """Complain if a file cannot be written, without writing it; None and ``-`` are no files.

    `replaced` says that it is written beside and renamed, which takes a folder that can be written to.
    """
    if place is None or str(place) == "-":
        return
    obstacle = _obstacle(Path(place), replaced)
    if obstacle is not None:
        raise FormatError(f"it cannot be written ({os.strerror(obstacle)})", source=str(place))


def check_answer(place: str | Path | None) -> None:
    """`check_output` for an answer, whose name must tell its form."""
    from dabp.formats.solution import holds_values_only

    check_output(place)
    if place is not None:
        holds_values_only(place)


def check_apart(written: Mapping[str, str | Path | None], read: Iterable[str | Path | None]) -> None:
    """Complain if what is written would replace what is read, or two things would be written to one file.

    `written` is by option. Links are followed; devices and ``-`` hold nothing that could be lost.
    """
    inputs = {same for place in read if (same := _identity(place)) is not None}
    options: dict[str, str] = {}
    for option, place in written.items():
        if (same := _identity(place)) is None:
            continue
        if same in inputs:
            raise ParameterError(f"{option} would replace {str(place)!r}, which is read; choose another file")
        if (other := options.setdefault(same, option)) != option:
            raise ParameterError(f"{other} and {option} would both be written to {str(place)!r}; choose another file")


def places(files: Sequence[str], target: Path | None, suffix: str, option: str) -> list[Path | None]:
    """Where what belongs to each problem file goes: the file `target`, or in the folder `target` one named after each.

    What several files are given for is a folder, which is made if it is not there.
    """
    if target is None:
        return [None] * len(files)
    if not target.is_dir() and len(files) == 1:
        return [target]
    if target.suffix and not target.is_dir():
        raise ParameterError(f"{option} of several files is a folder, not {str(target)!r}")
    names = [f"{_stem(file)}{suffix}" for file in files]
    for name, count in Counter(names).items():
        if count > 1:
            raise ParameterError(f"{option}: {count} files would be written to {target / name}; solve them one by one")
    if not target.is_dir():
        check_output(target)
        target.mkdir()
    return [target / name for name in names]


def _identity(place: str | Path | None) -> str | None:
    """One text for all names of a file; None for no file."""
    if place is None or str(place) == "-" or (os.path.exists(place) and not os.path.isfile(place)):
        return None
    path = os.path.realpath(place)
    return path.casefold() if sys.platform in ("darwin", "win32") else path  # there, A and a are one file


def _stem(file: str) -> str:
    """A problem file's name without the suffixes of its format and compression."""
    from dabp.formats.text import COMPRESSED

    path = Path("stdin" if file == "-" else file)
    return Path(path.stem).stem if path.suffix.lower() in COMPRESSED else path.stem


def _obstacle(path: Path, replaced: bool) -> int | None:
    """The error that writing would end with, as far as that can be told."""
    folder = path.parent
    if path.is_dir():
        return errno.EISDIR
    if not folder.is_dir():
        return errno.ENOTDIR if folder.exists() else errno.ENOENT
    if path.exists() and not replaced:
        return None if os.access(path, os.W_OK) else errno.EACCES
    return None if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES
