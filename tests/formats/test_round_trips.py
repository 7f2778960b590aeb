"""What is written is what is read back, in every format; toulbar2 reads the same from our files."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from dabp.errors import FormatError
from dabp.formats import FORMATS, read, write
from dabp.problem import Problem
from dabp.problem.integer_costs import integer_costs
from tests.formats.peer import optimal_values
from tests.formats.strategies import folded, problems
from tests.problems import exhaustive_optimum, random_problem

_CFN_NAME = re.compile(r'[^\s":,{}\[\]#/\\0-9<>][^\s":,{}\[\]#/\\]*')


def _expressible(problem: Problem, format: str) -> bool:
    """Whether a format can say a problem exactly, by its specification."""
    values = [label for i in range(problem.num_variables) for label in problem.names.labels(i)]
    unlabelled = all(problem.names.labels(i) == tuple(range(d)) for i, d in enumerate(problem.domain_sizes.tolist()))
    unnamed = problem.names.variables == tuple(f"x{i}" for i in range(problem.num_variables))
    if format == "wcsp":
        natural = problem.facts.integral and (problem.pool >= 0).all() and problem.constant >= 0
        return bool(natural and not problem.maximize and unnamed and unlabelled)
    if format in ("uai", "lg"):
        return format == "lg" and not problem.maximize and unnamed and unlabelled
    if format == "cfn":
        strings = all(
            labels == tuple(range(len(labels))) or all(isinstance(x, str) and _CFN_NAME.fullmatch(x) for x in labels)
            for labels in map(problem.names.labels, range(problem.num_variables))
        )
        return strings and all(_CFN_NAME.fullmatch(name) for name in problem.names.variables)
    if format == "xml":
        odd = re.compile(r"\||:|\.\.|[+-]?[\d.].*")  # text that tuples cannot hold, or that looks like a number
        return not any(isinstance(x, float) or (isinstance(x, str) and odd.search(x)) for x in values)
    return not any("|" in str(x) for x in values)


def _again(problem: Problem, format: str) -> Problem:
    stream = io.StringIO()
    write(problem, stream, format)
    return read(io.StringIO(stream.getvalue()), format)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_reading_what_was_written(problem: Problem) -> None:
    """Equal problems where the format has words for everything, equal costs to its precision where it has not."""
    expected = folded(problem)
    rng = np.random.default_rng(0)
    assignments = rng.integers(0, problem.domain_sizes, (20, problem.num_variables))
    costs = problem.cost(assignments)
    for format, line in FORMATS.items():
        if line.module in ("qubo", "bif", "xmlbif", "wcnf", "opb", "pre", "dcop_authors", "opengm", "qaplib", "binary"):
            continue  # has a test of its own, as few problems are
        try:
            again = _again(problem, format)
        except FormatError:
            assert not _expressible(problem, format)
            continue
        if _expressible(problem, format):
            assert again.constant == pytest.approx(expected.constant, rel=1e-12)  # several are added in another order
            assert again.replace(constant=expected.constant) == expected, format
        found, allowed = again.cost(assignments), 1e-9
        if format == "wcsp":
            scaled, _ = integer_costs(problem)
            allowed = 1e-9 + (problem.num_factors + 1) / scaled.scale
            found = (found - scaled.raised) / scaled.scale
        if problem.maximize and not again.maximize:
            found = -found
        np.testing.assert_array_equal(np.isinf(costs), np.isinf(found), err_msg=format)
        np.testing.assert_allclose(found, costs, rtol=1e-12, atol=allowed, err_msg=format)


@pytest.mark.parametrize("suffix", [".wcsp", ".cfn", ".uai"])
def test_toulbar2_reads_our_files(suffix: str, tmp_path: Path) -> None:
    """The optimum that toulbar2 finds in our file costs in our problem what exhaustive search finds."""
    written = []
    for seed in range(40):
        problem = random_problem(seed, max_variables=6)
        path = tmp_path / f"{seed}{suffix}"
        write(problem, path)
        written.append((problem, path))
    for (problem, path), values in zip(written, optimal_values([path for _, path in written]), strict=True):
        best = exhaustive_optimum(problem)
        assert not isinstance(values, str), (path, values)
        assert (values is None) == (best is None), path
        if values is not None:
            assert problem.cost(values) == pytest.approx(best, abs=1e-4), path


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_compressed_files(suffix: str, tmp_path: Path) -> None:
    """A compressed file is written and read by its suffix, several streams in one file included."""
    problem = random_problem(3)
    path = tmp_path / f"a.yaml{suffix}"
    write(problem, path)
    assert read(path) == folded(problem)
    plain = tmp_path / "a.yaml"
    write(problem, plain)
    assert suffix == "" or path.read_bytes() != plain.read_bytes()


ODD = [
    "a\nb",
    "a\rb",
    "a\tb",
    "\u202e",
    "\x07",
    "\x85",
    " x",
    "x ",
    "#h",
    "c",
    "",
    "=",
    "<b>",
    "*a",
    "- a",
    "1e5",
    "😀",
]


@pytest.mark.parametrize(
    "format", [name for name, line in FORMATS.items() if line.module not in ("opengm", "qaplib", "pre")]
)
def test_nothing_is_written_that_cannot_be_read(format: str, tmp_path: Path) -> None:
    """Whatever a problem, a variable or a value is called: refused before there is a file, or read back whole."""
    unused = Problem([2, 2, 2], [0, 1], [0, 2], [0.0, 1, 1, 0], [0, 4])
    free = Problem([2, 2], [0], [0, 1], [0.0, 0.0], [0, 2])
    cases = [unused, free, unused.replace(pool=np.array([1e5, -1e5, 0, 0]))]
    for odd in ODD:
        cases.append(unused.replace(name=odd))
        cases.append(unused.replace(variable_names=("a", odd, "b")))
        cases.append(unused.replace(factor_names=(odd,)))
        cases.append(unused.replace(labels=[("a", "b"), (odd, "B"), ("a", "b")]))
    for number, problem in enumerate(cases):
        path = tmp_path / f"{number}.{format}"
        try:
            write(problem, path, format)
        except FormatError:
            assert not path.exists()
            continue
        again = read(path, format)
        assert again.domain_sizes.tolist() == problem.domain_sizes.tolist()
