"""Checks of the files of a command before its work: an answer that takes hours must have a file to go to."""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dabp.errors import FormatError, ParameterError


def check_problems(files: Iterable[str], format: str | None) -> None:
    """Raise `FormatError` for a problem file of unknown format or one that cannot be read."""
    from dabp.formats import format_of

    for file in files:
        check_input(file)
        format_of(file, format)


def check_input(place: str | Path | None) -> None:
    """Raise `FormatError` if a file cannot be read, without opening it; None and ``-`` are no files."""
    if place is None or str(place) == "-":
        return
    if not os.path.exists(place):
        raise FormatError("there is no such file", source=str(place))
    if os.path.isdir(place):
        raise FormatError("this is a folder, not a file", source=str(place))
    if not os.access(place, os.R_OK):
        raise FormatError("reading it is not permitted", source=str(place))


def check_target(place: str, format: str | None) -> None:
    """Raise `FormatError` if a problem cannot be written to a file, or its format is unknown."""
    from dabp.formats import format_of

    check_output(place)
    try:
        format_of(place, format)
    except FormatError as error:
        raise FormatError(error.message.replace("--format", "--to"), source=error.source) from None


def check_output(place: str | Path | None, *, replaced: bool = False) -> None:
    """Raise `FormatError` if a file cannot be written, without writing it; None and ``-`` are no files.

    A file that is `replaced` is written beside and renamed, which needs write access to the folder.
    """
    if place is None or str(place) == "-":
        return
    obstacle = _obstacle(Path(place), replaced)
    if obstacle is not None:
        raise FormatError(f"it cannot be written ({os.strerror(obstacle)})", source=str(place))


def check_write(
    place: str | Path | None, read: Iterable[str | Path | None], option: str = "--output", *, replaced: bool = False
) -> None:
    """Raise an error if a file cannot be written or would replace one that is read."""
    check_output(place, replaced=replaced)
    check_apart({option: place}, read)


def check_answer(place: str | Path | None, *, several: bool = False) -> None:
    """`check_output` for an answer or several, whose suffix must be one of the solution formats that can contain it."""
    from dabp.formats.solution import check_several, holds_values_only

    check_output(place)
    if place is not None:
        (check_several if several else holds_values_only)(place)


def check_apart(written: Mapping[str, str | Path | None], read: Iterable[str | Path | None]) -> None:
    """Raise `ParameterError` if a written file is one that is read, or two options write one file.

    `written` is by option. Links are followed; devices and ``-`` are no files.
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
    """The file to write for each problem file: `target`, or for several a file of the problem's name in it as a folder.

    The folder is made if it does not exist.
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
    """The same text for all names of a file; None for no file."""
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
    folder = path.parent
    if path.is_dir():
        return errno.EISDIR
    if not folder.is_dir():
        return errno.ENOTDIR if folder.exists() else errno.ENOENT
    if path.exists() and not replaced:
        return None if os.access(path, os.W_OK) else errno.EACCES
    return None if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES
