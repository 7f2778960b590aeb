"""The tape: gradients come back in reverse order, are added up, and stop at constants."""

from __future__ import annotations

import numpy as np

from dabp.solvers.dabp.tape import Tape, Value


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
    """The backward pass of such a tape does nothing."""
    for tape, constant in ((Tape(records=False), False), (Tape(), True)):
        x = Value(np.ones(1), constant=constant)
        result = product(tape, x, x)
        result.gradient = np.ones(1)
        tape.backward()
        assert x.gradient is None
    tape, x = Tape(), Value(np.ones(1))
    product(tape, x, x).receive(np.ones(1))
    tape.clear()
    tape.backward()
    assert x.gradient is None
