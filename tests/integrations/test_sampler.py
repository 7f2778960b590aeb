"""dabp as a sampler of dimod."""

from __future__ import annotations

import itertools
import unittest

import dimod
import dimod.testing
import numpy as np
import pytest

import dabp
from dabp.integrations.sampler import DabpSampler


@dimod.testing.load_sampler_bqm_tests(DabpSampler)
class TestSampler(unittest.TestCase):
    """dimod's own tests of samplers."""

    def test_interface(self) -> None:
        """Parameters and properties are what dimod expects."""
        dimod.testing.assert_sampler_api(DabpSampler())


def test_the_public_name_is_the_sampler() -> None:
    """`dabp.DabpSampler` is found without importing dimod before."""
    assert dabp.DabpSampler is DabpSampler


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_energies_equal_exhaustive_search(vartype: str) -> None:
    """The best sample is optimal; reads after a proof count as occurrences."""
    bqm = dimod.generators.gnp_random_bqm(10, 0.6, vartype, random_state=4)
    sampleset = DabpSampler().sample(bqm, num_reads=3, time_limit=3)
    assert sampleset.first.energy == pytest.approx(dimod.ExactSolver().sample(bqm).first.energy)
    assert sampleset.record.num_occurrences.sum() == 3
    assert sampleset.info["status"] == "OPTIMAL"


def test_reads_without_a_proof_have_seeds_of_their_own() -> None:
    """Each read is a row; the limit holds for all together."""
    bqm = dimod.generators.gnp_random_bqm(60, 0.5, "SPIN", random_state=4)
    sampleset = DabpSampler().sample(bqm, num_reads=3, time_limit=0.6, solver="annealing", threads=1)
    assert len(sampleset) == 3
    dimod.testing.assert_sampleset_energies(sampleset, bqm, precision=6)
    assert sampleset.info["timing"]["run_time_seconds"] < 5


def test_a_discrete_model_equals_exhaustive_search() -> None:
    """Cases, linear and quadratic biases and the offset of a DQM."""
    rng = np.random.default_rng(3)
    dqm = dimod.DiscreteQuadraticModel()
    for name, cases in (("a", 3), ("b", 2), ("c", 4)):
        dqm.add_variable(cases, label=name)
        dqm.set_linear(name, rng.integers(-5, 6, cases).astype(float))
    dqm.set_quadratic("a", "b", {(0, 1): -3.0, (2, 0): 2.0})
    dqm.set_quadratic("c", "a", {(3, 1): -4.0, (0, 0): 1.5})
    dqm.offset = 7
    best = DabpSampler().sample_dqm(dqm).first
    energies = {
        case: dqm.energy(dict(zip("abc", case, strict=True)))
        for case in itertools.product(range(3), range(2), range(4))
    }
    assert best.energy == pytest.approx(min(energies.values()))
    assert dqm.energy(best.sample) == pytest.approx(best.energy)


def test_a_constrained_model_equals_exhaustive_search() -> None:
    """Integers, spins, products in the objective, and linear constraints, one of them soft."""
    i, j = dimod.Integer("i", lower_bound=-2, upper_bound=4), dimod.Integer("j", upper_bound=5)
    s, x = dimod.Spin("s"), dimod.Binary("x")
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.set_objective(i * j - 3 * i + j * s + 2 * x + 1)
    cqm.add_constraint(i + 2 * j + x >= 4, label="enough")
    cqm.add_constraint(i - s == 1, label="tied", weight=2.5, penalty="linear")
    expected = min(
        i * j - 3 * i + j * s + 2 * x + 1 + 2.5 * abs(i - s - 1)
        for i, j, s, x in itertools.product(range(-2, 5), range(6), (-1, 1), (0, 1))
        if i + 2 * j + x >= 4
    )
    sampleset = DabpSampler().sample_cqm(cqm)
    best = sampleset.first.sample
    penalty = 2.5 * abs(best["i"] - best["s"] - 1)
    assert cqm.objective.energy(best) + penalty == pytest.approx(expected)
    assert sampleset.record.is_feasible.tolist() in ([True], [False])


def test_what_does_not_fit_is_refused_in_a_sentence() -> None:
    """Real variables, quadratic constraints, and contradictions."""
    real = dimod.ConstrainedQuadraticModel()
    real.set_objective(1.0 * dimod.Real("r"))
    with pytest.raises(dabp.ProblemError, match="finitely many values"):
        DabpSampler().sample_cqm(real)
    x, y = dimod.Binary("x"), dimod.Binary("y")
    product = dimod.ConstrainedQuadraticModel()
    product.add_constraint(x * y == 1, label="both")
    with pytest.raises(dabp.ProblemError, match="'both' is quadratic"):
        DabpSampler().sample_cqm(product)
    contradiction = dimod.ConstrainedQuadraticModel()
    contradiction.add_constraint(x + y >= 3, label="three")
    with pytest.raises(dabp.ProblemError, match="INFEASIBLE"):
        DabpSampler().sample_cqm(contradiction)
    with pytest.raises(dabp.ParameterError, match="num_reads"):
        DabpSampler().sample(dimod.BQM("SPIN").from_ising({"a": 1}, {}), num_reads=0)
