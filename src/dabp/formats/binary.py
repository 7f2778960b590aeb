"""Our own binary form, which opens a million variables in a moment: the columns of `Problem`; see docs/formats/dabp.md.

A file in safetensors format: an array for each column, in the smallest type that holds its numbers exactly, and what is
no array as JSON in the metadata. Nothing in it is executed, and every column is checked as any other problem is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.formats.numerals import MOST_EXACT
from dabp.formats.solution import plain
from dabp.formats.text import Source
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.views import Label

VERSION = 1
"""The version of the layout; files of a later one are refused."""

_KIND = "dabp problem"
_INTEGERS = ("domain_sizes", "arities", "scope_variables", "table_sizes", "factor_table", "definitions")


def write(problem: Problem) -> tuple[Iterable[bytes], list[str]]:
    """The bytes of the file, and no notes: nothing is lost."""
    from safetensors.numpy import save

    columns = {
        "domain_sizes": problem.domain_sizes,
        "arities": problem.arities,
        "scope_variables": problem.scope_variables,
        "table_sizes": np.diff(problem.pool_offsets),
        "factor_table": problem.factor_table,
        "definitions": problem.auxiliaries.definitions,
    }
    arrays = {name: _smallest(column, (np.uint8, np.uint16, np.uint32, np.int64)) for name, column in columns.items()}
    arrays["costs"] = _smallest(problem.pool, (np.int8, np.int16, np.int32, np.float32))
    names = problem.names
    words = {
        "variable_names": names.variable_names,
        "factor_names": names.factor_names,
        "labels": names.value_labels and [_row(names.labels(v)) for v in range(problem.num_variables)],
    }
    arrays["words"] = np.frombuffer(json.dumps(words, ensure_ascii=False, default=plain).encode(), dtype=np.uint8)
    facts = {
        "maximize": problem.maximize,
        "constant": float(problem.constant).hex(),
        "limit": None if problem.limit is None else float(problem.limit).hex(),
        "name": problem.name,
    }
    return [save(arrays, {"kind": _KIND, "version": str(VERSION), "facts": json.dumps(facts)})], []


def read(source: Source) -> Problem:
    """The problem of a file of ours; a damaged or foreign one is refused."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    facts = _facts(source)
    try:
        arrays = load(source.data)
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise source.error(f"it is damaged ({error})") from None
    columns = {name: _column(source, arrays, name, "iu").astype(np.int64) for name in _INTEGERS}
    costs = _column(source, arrays, "costs", "iuf").astype(np.float64)
    words = _words(source, _column(source, arrays, "words", "u"))
    source.release()
    for name in ("arities", "table_sizes", "domain_sizes"):
        if (columns[name] < 0).any():
            raise source.error(f"its column {name} has a negative number")
        if columns[name].sum(dtype=np.float64) > MOST_EXACT:  # sums of int64 would run over
            raise source.error(f"its column {name} has numbers that no file can hold")
    source.meter.take_values(int(columns["domain_sizes"].sum()))
    try:
        return source.problem(
            columns["domain_sizes"],
            columns["scope_variables"],
            offsets_of(columns["arities"]),
            costs,
            offsets_of(columns["table_sizes"]),
            columns["factor_table"],
            definitions=columns["definitions"],
            **facts,
            **words,
        )
    except (TypeError, ValueError) as error:
        raise source.error(str(error)) from None


def _facts(source: Source) -> dict[str, Any]:
    size = int.from_bytes(source.data[:8], "little")
    try:
        header = json.loads(source.data[8 : 8 + size]) if 8 + size <= len(source.data) else None
        written = header["__metadata__"] if isinstance(header, dict) else {}
        facts = json.loads(written["facts"]) if written.get("kind") == _KIND else None
        version = int(written["version"]) if written.get("kind") == _KIND else 0
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        facts, version = None, 0
    if not isinstance(facts, dict):
        raise source.error("it is not a problem in our binary form")
    if version > VERSION:
        raise source.error(f"it was written by a later program (layout {version}, this one reads {VERSION})")
    kinds = {"maximize": bool, "constant": str, "limit": str | None, "name": str}
    if version < 1 or facts.keys() != kinds.keys() or not all(isinstance(facts[x], kinds[x]) for x in kinds):
        raise source.error("its header does not say what a problem's must")
    try:
        numbers = {name: facts[name] and float.fromhex(facts[name]) for name in ("constant", "limit")}
    except (ValueError, OverflowError):
        raise source.error("its header has a number that is none") from None
    return {**facts, **numbers}


def _column(source: Source, arrays: Mapping[str, NDArray[Any]], name: str, kinds: str) -> NDArray[Any]:
    column = arrays.get(name)
    if column is None:
        raise source.error(f"its column {name} is missing")
    if column.ndim != 1 or column.dtype.kind not in kinds:
        raise source.error(f"its column {name} is not a row of numbers of the right kind")
    return column


def _words(source: Source, data: NDArray[Any]) -> dict[str, Any]:
    """Names and labels: each None, or a list of texts, or of lists."""
    try:
        words = json.loads(data.astype(np.uint8).tobytes())
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, dict) or words.keys() != {"variable_names", "factor_names", "labels"}:
        raise source.error("its names cannot be read")
    for name in ("variable_names", "factor_names"):
        if words[name] is not None and not _is_list_of(words[name], str):
            raise source.error(f"its {name.replace('_', ' ')} are not texts")
    labels = words["labels"]
    if labels is not None:
        rows = isinstance(labels, list) and all(row is None or _is_list_of(row, str | int | float) for row in labels)
        if not rows:
            raise source.error("its labels are not texts or numbers")
        words["labels"] = [None if row is None else tuple(row) for row in labels]
    return words


def _row(labels: tuple[Label, ...]) -> list[Label] | None:
    plain_numbers = all(type(label) is int and label == place for place, label in enumerate(labels))
    return None if plain_numbers else list(labels)


def _is_list_of(value: object, kind: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, kind) for one in value)


def _smallest(column: NDArray[Any], kinds: Iterable[Any]) -> NDArray[Any]:
    """The same numbers in the first of these types that holds them all exactly, or as they are."""
    for kind in kinds:
        with np.errstate(invalid="ignore", over="ignore"):
            packed = column.astype(kind)
        if np.array_equal(packed.astype(column.dtype), column):
            return packed
    return np.ascontiguousarray(column)
