"""QUBO, Ising and max-cut files mean what their own programs mean by them."""

from __future__ import annotations

import io
from pathlib import Path

import dimod
import numpy as np
import pytest
from dimod.serialization import coo
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem
from dabp.problem.interop import sample_array
from dabp.problem.quadratic_function import Quadratic, cut_problem, problem_of
from tests.formats.peer import optimal_values
from tests.problem.test_quadratic_function import quadratics
from tests.problems import all_assignments

_DATA = Path(__file__).parents[1] / "data" / "good"


def _written(problem: Problem, format: str) -> tuple[str, list[str]]:
    stream = io.StringIO()
    notes = write(problem, stream, format)
    return stream.getvalue(), notes


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        (
            "small.qubo",
            lambda x: 3.4 * x[0] + 4.5 * x[1] - 2 * x[3] + 2.2 * x[0] * x[1] - 3 * x[1] * x[3] + x[0] * x[3],
        ),
        ("terms.qpbo", lambda x: -x[0] + 1.5 * x[0] * x[1] + x[2]),
        ("small.bq", lambda x: -5 * x[0] + 6 * x[0] * x[1] - 4 * x[1] * x[2] + x[2]),
        ("graph.rud", lambda x: (x[0] != x[1]) + (x[1] != x[2]) + (x[0] != x[2])),
        ("small.txt", lambda x: int(x[0] != x[1]) - int(x[1] != x[2])),
        (
            "small.mc",
            lambda x: (x[0] != x[1]) - int(x[1] != x[2]) + 2 * (x[2] != x[3]) + (x[3] != x[0]) + (x[0] != x[2]),
        ),
    ],
)
def test_definitions(name: str, cost: object) -> None:
    """Each dialect's coefficients count as its documentation says."""
    problem = read(_DATA / name)
    assert problem.maximize == (Path(name).suffix in (".rud", ".mc", ".txt"))
    for x in all_assignments(problem).tolist():
        assert problem.cost(x) == pytest.approx(float(cost(x)))  # type: ignore[operator]


def test_toulbar2_finds_the_same_optimum(tmp_path: Path) -> None:
    """Spins, maximisation and the diagonal of toulbar2's dialect count as toulbar2 counts them."""
    kept = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        lines = [f"{i + 1} {j + 1} {rng.integers(-9, 10)}" for i in range(6) for j in range(i, 6) if rng.random() < 0.6]
        signs = ["", "-"][seed % 2], ["", "-"][seed // 2 % 2]
        path = tmp_path / f"{seed}.qpbo"
        path.write_text(f"{signs[0]}6 {signs[1]}{len(lines)}\n" + "\n".join(lines) + "\n", encoding="utf-8")
        kept.append(path)
    for path, values in zip(kept, optimal_values(kept), strict=True):
        problem = read(path)
        costs = problem.cost(all_assignments(problem))
        # toulbar2 counts the value 1 of a spin first
        chosen = [1 - value for value in values] if problem.names.labels(0) == (-1, 1) else values
        assert problem.cost(chosen) == (costs.max() if problem.maximize else costs.min()), path.read_text()


@settings(max_examples=100, deadline=None)
@given(quadratic=quadratics())
def test_reading_what_was_written(quadratic: Quadratic) -> None:
    """Costs are the same again but for a constant, which a note tells; spins stay spins where a file can say so."""
    for maximize in (False, True):
        problem = problem_of(quadratic._replace(offset=0.0), maximize=maximize)
        if not problem.num_variables:
            continue
        for format in ("qubo", "coo", "bq"):
            text, notes = _written(problem, format)
            again = read(io.StringIO(text), format)
            states = all_assignments(problem)
            difference = again.cost(states) - problem.cost(states) * (-1 if maximize else 1)
            np.testing.assert_allclose(difference, difference[0], atol=1e-9, err_msg=format)
            assert any("constant" in note for note in notes) or abs(difference[0]) < 1e-9
            assert (format == "coo" and quadratic.spin) == (again.names.labels(0) == (-1, 1))


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-9, 9)).filter(lambda edge: edge[0] < edge[1]),
        unique_by=lambda edge: edge[:2],
    )
)
def test_any_graph_there_and_back(edges: list[tuple[int, int, int]]) -> None:
    """Written and read again, a graph has the same cuts; without an edge, too."""
    rows, columns, weights = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    cut = cut_problem(6, rows, columns, weights.astype(float))
    again = read(io.StringIO(_written(cut, "mc")[0]), "mc")
    states = all_assignments(cut)
    np.testing.assert_array_equal(again.cost(states), cut.cost(states))


@pytest.mark.parametrize("seed", range(20))
def test_cuts_there_and_back(seed: int) -> None:
    """A graph is written as it was read, and an Ising model without a field as the cut that solves it."""
    rng = np.random.default_rng(seed)
    rows, columns = np.triu_indices(6, 1)
    weights = rng.integers(-3, 4, len(rows)).astype(float)
    cut = cut_problem(6, rows, columns, weights)
    text, notes = _written(cut, "mc")
    assert notes == []
    assert read(io.StringIO(text), "mc").replace(name="problem") == cut
    glass = problem_of(Quadratic(np.zeros(6), rows, columns, weights, spin=True))
    again = read(io.StringIO(_written(glass, "mc")[0]), "mc")
    states = all_assignments(glass)
    assert set(np.flatnonzero(again.cost(states) == again.cost(states).max())) == set(
        np.flatnonzero(glass.cost(states) == glass.cost(states).min())
    )


def test_what_is_no_cut() -> None:
    """A field cannot be cut."""
    with pytest.raises(FormatError, match="variable 'x0' prefers one of its values"):
        _written(problem_of(Quadratic(np.array([0.0, 1]), np.array([0]), np.array([1]), np.ones(1))), "mc")


@pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
@pytest.mark.parametrize("seed", range(20))
def test_dimod_reads_the_same(vartype: str, seed: int) -> None:
    """Dimod's own writer and reader of COO files agree with ours on the energy of every state."""
    model = dimod.generators.gnm_random_bqm(5, 8, vartype, random_state=seed)
    model.offset = 0  # which these files do not have
    problem = read(io.StringIO(coo.dumps(model, vartype_header=True)), "coo")
    states = all_assignments(problem)
    samples = sample_array(problem, states)
    np.testing.assert_allclose(problem.cost(states), model.energies((samples, sorted(model.variables))), atol=1e-5)
    again = coo.loads(_written(problem, "coo")[0])
    np.testing.assert_allclose(problem.cost(states), again.energies((samples, sorted(again.variables))), atol=1e-9)


def test_known_cuts(shared_instances: Path) -> None:
    """Graphs that others use have the size and the sum of weights they are known by."""
    for name, size, edges in (("G1", 800, 19176), ("G11", 800, 1600), ("G32", 2000, 4000)):
        problem = read(shared_instances / f"{name}.txt.xz")
        assert (problem.num_variables, problem.num_factors, problem.maximize) == (size, edges, True)
    assert read(shared_instances / "G1.txt.xz").cost(np.arange(800) % 2) == pytest.approx(19176 / 2, rel=0.05)
