"""Matrices, dictionaries and dimod's models become problems; answers become samples."""

from __future__ import annotations

import dimod
import numpy as np
import pytest
import scipy.sparse

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.qubo import sample_array
from tests.problems import all_assignments


def _matrix(seed: int, size: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (size, size)) * (rng.random((size, size)) < 0.6) * 1.5


@pytest.mark.parametrize("seed", range(5))
def test_every_form_of_a_matrix(seed: int) -> None:
    """Dense, sparse and dictionary are one problem, whose cost is x'Qx + offset."""
    matrix = _matrix(seed)
    terms = {(i, j): float(matrix[i, j]) for i in range(5) for j in range(5)}
    problem = Problem.from_qubo(matrix, 2.5)
    assert Problem.from_qubo(terms, 2.5) == problem
    for form in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array):
        assert Problem.from_qubo(form(matrix), 2.5) == problem
    for x in all_assignments(problem):
        assert problem.cost(x) == pytest.approx(x @ matrix @ x + 2.5)


@pytest.mark.parametrize("seed", range(5))
def test_ising(seed: int) -> None:
    """Labels are the spins, and the cost is h's + s'Js + offset; dictionaries give the same."""
    field, couplings = np.random.default_rng(seed).integers(-2, 3, 5) / 2, _matrix(seed)
    problem = Problem.from_ising(field, couplings, -1.0, maximize=True)
    named = Problem.from_ising(
        dict(enumerate(field.tolist())),
        {(i, j): float(couplings[i, j]) for i in range(5) for j in range(5)},
        -1.0,
        maximize=True,
    )
    assert named == problem
    for x in all_assignments(problem):
        s = np.array(list(problem.labelled(x).values()))
        assert set(s.tolist()) <= {-1, 1}
        assert problem.cost(x) == pytest.approx(field @ s + s @ couplings @ s - 1)


def test_names_of_a_dictionary() -> None:
    """Keys that are no numbers from 0 on name the variables, in order of appearance."""
    assert Problem.from_qubo({("b", "a"): 1.0, ("c", "c"): 2.0}).variable_names == ("b", "a", "c")
    assert Problem.from_qubo({(7, 3): 1.0}).variable_names == ("7", "3")
    assert not Problem.from_qubo({(1, 0): 1.0}).has_names
    assert Problem.from_qubo({}).num_variables == 0


@pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
@pytest.mark.parametrize("seed", range(12))
def test_dimod_there_and_back(vartype: str, seed: int) -> None:
    """Every assignment costs the energy that dimod gives it, in the problem and in the model made of it."""
    model = dimod.generators.gnm_random_bqm(6, 9, vartype, random_state=seed)
    model.offset = seed - 3.0
    if seed % 2:
        model = model.relabel_variables({v: f"v{v}" for v in model.variables}, inplace=False)
    problem = Problem.from_dimod(model)
    again = problem.to_dimod()
    assert again.vartype == model.vartype
    assert list(again.variables) == list(model.variables)
    states = all_assignments(problem)
    samples = sample_array(problem, states)
    energies = model.energies((samples, list(model.variables)))
    np.testing.assert_allclose(problem.cost(states), energies, atol=1e-12)
    np.testing.assert_allclose(again.energies((samples, list(again.variables))), energies, atol=1e-12)


def test_answers_as_samples() -> None:
    """A sample set has the problem's values and costs, the least first, negated where the problem maximises."""
    problem = Problem.from_ising([1.0, -1.0], np.zeros((2, 2)), maximize=True)
    samples = problem.to_sampleset([[0, 0], [1, 0], [0, 1]])
    assert dict(samples.first.sample) == {0: 1, 1: -1}
    assert samples.first.energy == -2
    assert samples.vartype is dimod.SPIN
    assert sample_array(problem, [1, 0]).tolist() == [1, -1]
    assert sample_array(Problem([2, 2]), [1, 0]).tolist() == [1, 0]
    with pytest.raises(ProblemError, match="two-valued"):
        sample_array(Problem([3]), [2])


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: Problem.from_qubo(np.zeros((2, 3))), "square"),
        (lambda: Problem.from_qubo(np.zeros(3)), "square"),
        (lambda: Problem.from_qubo({"ab": 1.0}), "pairs of variables"),
        (lambda: Problem.from_ising([1.0], np.zeros((2, 2))), "J is for 2 spins"),
        (lambda: Problem.from_ising({0: 1.0}, np.zeros((2, 2))), "both dictionaries or both arrays"),
        (lambda: Problem.from_qubo([[np.inf]]), "a coefficient is inf"),
    ],
)
def test_what_is_no_model(call: object, reason: str) -> None:
    """One sentence instead of an exception of NumPy."""
    with pytest.raises(ProblemError, match=reason):
        call()  # type: ignore[operator]
