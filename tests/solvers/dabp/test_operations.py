"""The compiled operations push the slopes of their results, and the tape adds gradients up in reverse order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.dabp.folding import Network
from dabp.solvers.dabp.operations import Operations, Tape, Value
from dabp.solvers.dabp.structure import Structure
from tests.solvers.dabp.graphs import cases, mixed, parameters_of, structure_of

Operation = Callable[[Tape, list[Value]], list[Value]]
HEADS = 4


@pytest.fixture(autouse=True)
def _share_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share work however short it is."""
    monkeypatch.setattr("dabp.solvers.dabp.thread_shares.SHORT_NANOSECONDS", 1e-3)


def assert_gradients(operation: Operation, arrays: list[np.ndarray], step: float = 1e-6) -> None:
    """Along random directions, the slope of a random function of the results is what is pushed to the inputs."""
    rng = np.random.default_rng(0)
    tape, values = Tape(), [Value(one) for one in arrays]
    results = operation(tape, values)
    weights = [rng.normal(size=one.array.shape) for one in results]
    for result, weight in zip(results, weights, strict=True):
        result.receive(weight.copy())
    tape.backward()
    for number, value in enumerate(values):
        direction = rng.normal(size=value.array.shape)

        def moved(by: float, number: int = number, direction: np.ndarray = direction) -> float:
            given = [Value(one + by * direction if n == number else one) for n, one in enumerate(arrays)]
            made = operation(Tape(records=False), given)
            return sum(float((one.array * weight).sum()) for one, weight in zip(made, weights, strict=True))

        assert value.gradient is not None
        slope = (moved(step) - moved(-step)) / (2 * step)
        assert float((value.gradient * direction).sum()) == pytest.approx(slope, rel=1e-5, abs=1e-7), number


def inputs(structure: Structure, spread: float = 1.0) -> dict[str, np.ndarray]:
    """Random arguments of the operations, by name."""
    rng, edges = np.random.default_rng(1), structure.num_edges
    inside = structure.domain_mask[structure.graph.edge_variable]
    terms = rng.normal(size=(structure.num_factors, 2 * HEADS))
    terms[:, HEADS:] *= spread
    return {
        "v2f": rng.normal(size=(edges, structure.width)) * inside,
        "f2v": rng.normal(size=(edges, structure.width)) * inside,
        "others": rng.normal(size=(edges, structure.width)) * inside,
        "terms": terms,
        "damping": rng.uniform(0.3, 0.7, edges),
        "hidden": rng.normal(size=(edges, 8)),
    }


def problems() -> dict[str, Problem]:
    return {"mixed": mixed(), "hub": cases()["hub"]}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", problems())
def test_messages_beliefs_and_composition(name: str, threads: int) -> None:
    """Eq. 3, 6 and 15, and the sums of uniform weights."""
    structure = structure_of(problems()[name])
    do, given = Operations(structure, threads), inputs(structure)
    finite = np.isfinite(do.unary)
    assert_gradients(lambda tape, v: [do.messages(tape, v[0])], [given["v2f"]])
    do.unary = np.where(finite, do.unary, 0.0)
    assert_gradients(lambda tape, v: [do.beliefs(tape, v[0])], [given["f2v"]])
    assert_gradients(lambda tape, v: [do.uniform(tape, v[0])], [given["f2v"]])
    assert_gradients(lambda tape, v: [do.compose(tape, *v)], [given[n] for n in ("damping", "v2f", "others")])
    do.close()


@pytest.mark.parametrize("spread", [0.02, 1.0])
@pytest.mark.parametrize("name", problems())
def test_attention(name: str, spread: float) -> None:
    """Eq. 11-13 with keys close enough to interpolate and far apart."""
    structure = structure_of(problems()[name])
    do, given = Operations(structure, 2), inputs(structure, spread)
    assert_gradients(lambda tape, v: [*do.attention(tape, HEADS, *v)], [given["terms"], given["f2v"]])
    do.close()


def test_network_s_operations() -> None:
    """Eq. 8 and 9, and products of rows with a matrix: gradients of their inputs."""
    structure = structure_of(mixed())
    do, given, rng = Operations(structure, 2), inputs(structure), np.random.default_rng(3)
    network = Network(structure, parameters_of(structure))
    cell = network.gru_v2f
    assert_gradients(lambda tape, v: [do.gru(tape, cell, given["v2f"], v[0])], [given["hidden"]])
    for layer, count in zip(network.layers, structure.needed, strict=True):
        features = rng.normal(size=(structure.num_nodes, len(layer.product.columns)))
        attend = lambda tape, v, layer=layer, count=count: [do.attend(tape, v[0], layer, count)]  # noqa: E731
        assert_gradients(attend, [features])
    rows = rng.normal(size=(structure.num_factors, 16))
    linear = lambda tape, v: [do.linear(tape, v[0], network.terms, network.terms_bias)]  # noqa: E731
    assert_gradients(linear, [rows])
    np.testing.assert_allclose(
        linear(Tape(False), [Value(rows)])[0].array, rows @ network.terms.columns + network.terms_bias, atol=1e-12
    )
    do.close()


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
def test_single_precision_is_accurate(spread: float) -> None:
    """Whatever the range of keys, attention in float32 is right to single precision, forwards and backwards."""
    results = []
    for dtype in ("float64", "float32"):
        structure = structure_of(cases()["hub"], dtype)
        given = inputs(structure, spread)
        terms, f2v = (Value(given[name].astype(dtype)) for name in ("terms", "f2v"))
        tape, do = Tape(), Operations(structure)
        damping, summed = do.attention(tape, HEADS, terms, f2v)
        damping.receive(np.ones_like(damping.array))
        summed.receive(2 * summed.array)
        tape.backward()
        results.append([damping.array, summed.array, *np.split(terms.gradient, 2, 1), f2v.gradient])
    for exact, ours, tolerance in zip(*results, (2e-6, 2e-6, 3e-4, 4e-6, 4e-6), strict=True):
        # The third, of queries, almost cancels when keys are almost equal.
        assert np.abs(ours - exact).max() <= tolerance * np.abs(exact).max()


def product(tape: Tape, a: Value, b: Value) -> Value:
    result = Value(a.array * b.array, constant=a.constant and b.constant)

    def push(gradient: np.ndarray) -> None:
        a.receive(gradient * b.array)
        b.receive(gradient * a.array)

    tape.append(push, result)
    return result


def test_a_value_that_is_used_twice_receives_both_gradients() -> None:
    """X · (x · c) has the derivative 2 x c; the constant has none."""
    tape, x, c = Tape(), Value(np.array([2.0, 3.0])), Value(np.array([5.0, 7.0]), constant=True)
    result = product(tape, x, product(tape, x, c))
    result.receive(np.ones(2))
    tape.backward()
    np.testing.assert_array_equal(x.gradient, 2 * x.array * c.array)
    assert c.gradient is None


def test_what_the_loss_does_not_depend_on_is_not_pushed() -> None:
    """Results without a gradient are left out; several results of one operation come together."""
    tape, x, calls = Tape(), Value(np.ones(1)), []
    first, second, other = Value(np.ones(1)), Value(np.ones(1)), Value(np.ones(1))
    tape.append(lambda one, two: calls.append((one, two)), first, second)
    tape.append(lambda gradient: calls.append(gradient), other)
    second.receive(np.array([4.0]))
    tape.backward()
    assert calls == [(None, np.array([4.0]))]
    assert x.gradient is None


def test_nothing_is_kept_without_recording_or_of_constants() -> None:
    """The backward pass of such a tape does nothing, nor that of a cleared one."""
    for records, constant, cleared in ((False, False, False), (True, True, False), (True, False, True)):
        tape, x = Tape(records), Value(np.ones(1), constant=constant)
        product(tape, x, x).gradient = np.ones(1)
        if cleared:
            tape.clear()
        tape.backward()
        assert x.gradient is None
