"""Our own binary form."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from safetensors.numpy import save

import dabp
from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem
from tests.formats.strategies import problems


def _bytes(problem: Problem) -> bytes:
    stream = io.BytesIO()
    assert write(problem, stream, "dabp") == []
    return stream.getvalue()


def _read(data: bytes) -> Problem:
    return read(io.BytesIO(data), "dabp")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_what_is_read_equals_what_was_written(problem: Problem) -> None:
    """All of it: names, labels of any kind, constants, directions, forbidden combinations, tables that are shared."""
    again = _read(_bytes(problem))
    assert again == problem
    labels = [again.names.labels(v) for v in range(again.num_variables)]
    assert [[type(x) for x in row] for row in labels] == [
        [type(x) for x in problem.names.labels(v)] for v in range(problem.num_variables)
    ]


def test_costs_take_the_smallest_room_that_holds_them() -> None:
    """Small integers take a byte each, other numbers stay exactly what they are."""
    small = Problem.from_tables([20, 20], [((0, 1), np.arange(400).reshape(20, 20) % 100)])
    assert len(_bytes(small)) < 1200
    odd = Problem.from_tables([2, 2], [((0, 1), [[0.1, 1e14], [np.inf, 2.0**40 + 2]])])
    assert _read(_bytes(odd)) == odd


def test_bounds_and_auxiliary_variables_are_kept() -> None:
    """What other formats leave out with a note."""
    model = dabp.Model()
    names = model.add_variables(["a", "b", "c", "d"], 4)
    model.all_different(names)
    problem = model.build().replace(limit=7.5)
    again = _read(_bytes(problem))
    assert again == problem
    assert again.limit == 7.5
    assert again.auxiliaries.count == problem.auxiliaries.count


def _changed(data: bytes, change: object) -> bytes:
    """The file with its header's facts, version or kind replaced."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"].update(change)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "dabp checkpoint"}, "not a problem"),
        ({"version": "2"}, "later program"),
        ({"version": "x"}, "not a problem"),
        ({"facts": "{}"}, "does not say"),
        ({"facts": "["}, "not a problem"),
        ({"facts": json.dumps({"maximize": 1, "constant": "0x0p+0", "limit": None, "name": "p"})}, "does not say"),
        (
            {"facts": json.dumps({"maximize": False, "constant": "x", "limit": None, "name": "p"})},
            "number that is none",
        ),
    ],
)
def test_foreign_headers_are_refused(change: dict[str, str], sentence: str) -> None:
    """In a sentence that says what is wrong."""
    data = _bytes(Problem.from_tables([2, 2], [((0, 1), [[0, 1], [2, 3]])]))
    with pytest.raises(FormatError, match=sentence):
        _read(_changed(data, change))


def test_damaged_files_are_refused_or_still_a_problem() -> None:
    """Each byte flipped, each length cut: never another error than ours, and no crash."""
    problem = Problem.from_tables([2, 3], [((0, 1), [[0, 1, 2], [2, 3, 4]]), ((1,), [5, 6, 7])])
    data = _bytes(problem)
    rng = np.random.default_rng(1)
    refused = 0
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= int(rng.integers(1, 256))
        for damaged in (bytes(flipped), data[:place]):
            try:
                _read(damaged)
            except FormatError:
                refused += 1
    assert refused > len(data)


def test_a_stream_of_text_is_refused() -> None:
    """Bytes in a text stream would be lost or garbled."""
    with pytest.raises(FormatError, match="binary"):
        write(Problem.from_tables([2], [((0,), [0, 1])]), io.StringIO(), "dabp")


def _file(columns: dict[str, list[int]], **facts: object) -> io.BytesIO:
    """A file of two variables with a table, some columns and facts replaced."""
    arrays = {
        "domain_sizes": [2, 2],
        "arities": [2],
        "scope_variables": [0, 1],
        "table_sizes": [4],
        "factor_table": [0],
        "definitions": [],
        **columns,
    }
    written = {"maximize": False, "constant": "0x0p0", "limit": None, "name": "p", **facts}
    words = json.dumps({"variable_names": None, "factor_names": None, "labels": None}).encode()
    data = {name: np.array(column, dtype=np.int64) for name, column in arrays.items()}
    data |= {"costs": np.zeros(4), "words": np.frombuffer(words, dtype=np.uint8)}
    return io.BytesIO(save(data, {"kind": "dabp problem", "version": "1", "facts": json.dumps(written)}))


@pytest.mark.parametrize(
    "columns",
    [
        {"domain_sizes": [2, 2, 2**62, 2**62, 2**62, 2**62]},
        {"domain_sizes": [2, 2, 2**63 - 1]},
        {"arities": [2**63 - 1, 2**63 - 1, 4], "factor_table": [0, 0, 0]},
        {"table_sizes": [2**63 - 1, 2**63 - 1, 2, 4], "factor_table": [3]},
    ],
)
def test_numbers_whose_sums_run_over_are_refused(columns: dict[str, list[int]]) -> None:
    """Sums of 64 bits come round to what looks right."""
    with pytest.raises(FormatError, match="that no file can hold"):
        dabp.read(_file(columns), "dabp")


@pytest.mark.parametrize("limit", ["nan", "-nan"])
def test_a_limit_that_is_no_number_is_refused(limit: str) -> None:
    """Nothing would be below it."""
    with pytest.raises(FormatError, match="limit"):
        dabp.read(_file({}, limit=limit), "dabp")
