"""The compiled window is the plain one: messages, λ, w, loss and every gradient."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers.dabp import operations
from dabp.solvers.dabp.compiled import CompiledBackend
from tests.problems import random_problem
from tests.solvers.dabp.graphs import backends, cases, parameters_of, structure_of, window

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}


def assert_equal_windows(problem: Problem, dtype: str, interval: int, weights: str, damping: str) -> None:
    structure = structure_of(problem, dtype, cost_scale=50.0)
    parameters, most = parameters_of(structure), TOLERANCE[dtype]
    compiled, plain = backends(structure, weights, damping)
    ours, theirs = (window(backend, structure, parameters, interval) for backend in (compiled, plain))
    compiled.close()
    gradients = ours.pop("gradient"), theirs.pop("gradient")
    for name, value in ours.items():
        # A GRU adds up products with messages before it squashes them: its digits are those of the messages.
        scale = np.abs(theirs["v2f" if name.startswith("hidden") else name]).max(initial=1e-9)
        assert np.abs(value - theirs[name]).max(initial=0.0) <= most * max(scale, 1e-9), name
    scale = np.abs(gradients[1].flat).max()
    assert 1e-12 < scale < np.inf
    for name, value in gradients[0].items():
        # Gradients of float32 sum terms that cancel; uniform weights leave λ alone, whose effect nearly cancels too.
        allowed = most * scale * (1.0 if dtype == "float64" else 20.0) + (1e-12 if weights == "uniform" else 0.0)
        assert np.abs(value - gradients[1][name]).max() <= allowed, name


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("name", cases())
def test_window_equals_the_plain_one(name: str, interval: int, dtype: str) -> None:
    """λ and w inferred every iteration, and used again; any arity, mixed domains, a hub of degree 242."""
    assert_equal_windows(cases()[name], dtype, interval, "learned", "edge")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("weights", "damping"), [("uniform", "edge"), ("learned", "mean")])
def test_ablations_equal_the_plain_ones(seed: int, weights: str, damping: str) -> None:
    """On any problem with a factor of two variables, with the network every third iteration."""
    problem = random_problem(seed, maximize=False)
    if not structure_of(problem).num_edges:
        pytest.skip("no factor of two variables")
    structure = structure_of(problem, cost_scale=50.0)
    parameters, both = parameters_of(structure), backends(structure, weights, damping)
    ours, theirs = (window(backend, structure, parameters, 3) for backend in both)
    for name in ("beliefs", "v2f", "hidden_f2v", "damping", "loss"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-10, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(ours["gradient"].flat, theirs["gradient"].flat, atol=1e-12)


@pytest.mark.parametrize("interval", [1, 3])
def test_recomputing_changes_nothing(monkeypatch: pytest.MonkeyPatch, interval: int) -> None:
    """Keeping only messages for the backward pass, as on the largest graphs, gives the same run."""
    problem = dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3)
    params = {"restarts": 2, "max_iterations_per_restart": 12, "update_interval": 5, "learning_rate": 1e-2}
    calls = []
    attend = operations.Operations.attend
    monkeypatch.setattr(operations.Operations, "attend", lambda *given: calls.append(1) or attend(*given))
    runs, counts = [], []
    for activations in (2**29, 0):
        monkeypatch.setattr("dabp.solvers.dabp.compiled.ACTIVATION_BYTES", activations)
        calls.clear()
        runs.append(dabp.solve(problem, "dabp", params=params | {"network_interval": interval}).trace)
        counts.append(len(calls))
    np.testing.assert_array_equal(runs[0].iteration_costs, runs[1].iteration_costs)
    assert [one["loss"] for one in runs[0].records] == [one["loss"] for one in runs[1].records]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("interval", [1, 4])
def test_the_same_bits_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch, interval: int) -> None:
    """Messages, loss and gradients of a window, with several blocks of rows."""
    monkeypatch.setattr("dabp.solvers.dabp.thread_shares.SHORT_NANOSECONDS", 1e-3)
    problem = dabp.generate("random-cop", variables=40, domain=5, density=0.5, seed=50001)
    structure, results = structure_of(problem, "float32"), []
    for threads in (1, 2, 3):
        backend = CompiledBackend(structure, "learned", "edge", 20, threads)
        results.append(window(backend, structure, parameters_of(structure), interval))
        backend.close()
    gradients = [one.pop("gradient").flat for one in results]
    for gradient, other in zip(gradients[1:], results[1:], strict=True):
        np.testing.assert_array_equal(gradient, gradients[0])
        for name, value in other.items():
            np.testing.assert_array_equal(value, results[0][name], err_msg=name)


def test_a_solve_loads_no_pytorch() -> None:
    """From the problem to the answer, with windows that are learned from."""
    script = (
        "import sys, dabp; "
        "problem = dabp.generate('random-cop', variables=8, domain=4, density=0.6, seed=3); "
        "dabp.solve(problem, 'dabp', max_iterations=25); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
