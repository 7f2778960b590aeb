"""Schedules are functions of a run's progress: they start, end and bend as they say, whatever the blocks."""

import numpy as np
import pytest

from dabp.solvers.belief_propagation.schedule import LEVEL_ITERATIONS, LEVELS, Freezing, Ramp, Schedule


def test_ramps_reach_both_ends():
    """Linear, bent and geometric ones."""
    progress = np.array([0.0, 0.25, 1.0])
    np.testing.assert_allclose(Ramp(1.0, 5.0).at(progress), [1.0, 2.0, 5.0])
    np.testing.assert_allclose(Ramp(1.0, 5.0, 2.0).at(progress), [1.0, 1.25, 5.0])
    np.testing.assert_allclose(Ramp(1.0, 16.0, geometric=True).at(progress), [1.0, 2.0, 16.0])


@pytest.mark.parametrize("iterations", [1, 9, 35, 400, 12345])
def test_blocks_of_a_schedule_join(iterations):
    """Phases asked for in pieces are those of the whole; β rises in few steps, gains end where they should."""
    schedule = Schedule(iterations, Ramp(1.0, 4.0, geometric=True), Ramp(0.0, 0.5, 1.3), 0.2)
    whole = schedule.phases(0, iterations)
    cut = iterations // 3
    pieces = schedule.phases(0, cut), schedule.phases(cut, iterations - cut)
    for k in range(2):
        np.testing.assert_array_equal(np.concatenate([piece[k] for piece in pieces]), whole[k])
    assert len(np.unique(whole.beta)) <= min(LEVELS, max(1, iterations // LEVEL_ITERATIONS))
    assert (np.diff(whole.beta) >= 0).all()
    assert whole.beta.min() >= 1.0
    assert whole.beta.max() <= 4.0
    assert whole.gain[-1] == 0.5


def test_a_run_may_be_stretched_or_pressed():
    """After a change of its length a run goes on where it was, and ends when it should, again and again."""
    schedule = Schedule(100, Ramp(1.0, 4.0, geometric=True), Ramp(0.0, 0.5), 0.2)
    for length, done in ((200, 60), (120, 90), (5000, 119)):
        before = schedule.progress(done)
        schedule = schedule.lasting(length, done)
        assert schedule.progress(done) == pytest.approx(before)
        assert schedule.progress(length) == 1.0
        phases = schedule.phases(done, length - done)
        assert (np.diff(phases.gain) > 0).all()
        assert phases.gain[-1] == 0.5
        assert (np.diff(phases.beta) >= 0).all()


def test_cold_is_min_sum():
    """From a β on it is infinite, and what else there is goes on."""
    schedule = Schedule(100, Ramp(1.0, 4.0), Ramp(0.0, 0.5), 0.2, cold=2.5)
    phases = schedule.phases(0, 100)
    assert phases.beta[0] < 2.5
    assert np.isinf(phases.beta[phases.beta > 2.5]).all()
    assert np.isinf(phases.beta[-1])
    assert phases.gain[-1] == 0.5


def test_freezing_is_reinforced_bps():
    """The gain of the compiled iteration, for each count of iterations; none at rate 0."""
    from dabp.kernels.belief_propagation.iteration import gain_of

    for rate in (0.0, 1e-3, 0.3):
        phases = Schedule(1, Ramp(2.0, 2.0), Freezing(rate), 0.3).phases(4, 6)
        np.testing.assert_allclose(phases.gain, [gain_of(rate, t) for t in range(5, 11)])
        assert (phases.beta == 2.0).all()


@pytest.mark.parametrize("iterations", [1, 30, 95, 97, 400, 1199, 12345])
@pytest.mark.parametrize("cold", [0.0, 1.0, 1.7, 2.0, 3.9, 4.0, np.inf])
def test_soft_iterations_are_those_with_a_temperature(iterations, cold):
    """As many as have a finite β, none and all included; after a change of the length, those from there on."""
    schedule = Schedule(iterations, Ramp(1.0, 4.0, geometric=True), Ramp(0.0, 0.5), 0.2, cold=cold)
    assert schedule.soft_iterations == np.isfinite(schedule.phases(0, iterations).beta).sum()
    done = iterations // 4
    longer = schedule.lasting(2 * iterations, done)
    if done < longer.soft_iterations:
        assert longer.soft_iterations - done == np.isfinite(longer.phases(done, 2 * iterations - done).beta).sum()
