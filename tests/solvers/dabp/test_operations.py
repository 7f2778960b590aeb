"""The tape adds gradients up in reverse order; attention is as accurate as its precision."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.dabp.operations import Operations, Tape, Value
from tests.solvers.dabp.graphs import cases, structure_of

HEADS = 4


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
def test_single_precision_is_accurate(spread: float) -> None:
    """Whatever the range of keys, attention in float32 is right to single precision, forwards and backwards."""
    results = []
    for dtype in ("float64", "float32"):
        structure, rng = structure_of(cases()["hub"], dtype), np.random.default_rng(1)
        spreads = np.repeat([1.0, spread], HEADS)  # of what a factor adds as a target and as a neighbour
        terms = Value((spreads * rng.normal(size=(structure.num_factors, 2 * HEADS))).astype(dtype))
        inside = structure.domain_mask[structure.graph.edge_variable]
        f2v = Value((inside * rng.normal(size=inside.shape)).astype(dtype))
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
