"""Learning while solving: good runs draw the next ones near them, but not all."""

import numpy as np
import pytest

from dabp.solvers.belief_propagation.online import ELITE, EXPLORED, Online
from dabp.solvers.belief_propagation.policy import SPREAD

KNOWN = np.zeros(len(SPREAD))


def draws(online: Online, count: int = 400) -> np.ndarray:
    """[count, outputs], in units of the spread."""
    rng = np.random.default_rng(0)
    return np.array([online.draw(rng, KNOWN) for _ in range(count)]) / SPREAD


def test_without_runs_what_is_known_is_drawn():
    """As it was given."""
    assert np.array_equal(Online(SPREAD).draw(np.random.default_rng(0), KNOWN), KNOWN)


def test_runs_gather_around_what_did_best():
    """Not all of them, and none where learning is off."""
    good = 4 * SPREAD
    for learning in (True, False):
        online = Online(SPREAD, learning)
        for _ in range(ELITE):
            online.learn(1.0, good)
        for _ in range(20):
            online.learn(9.0, -good)
        near = (np.abs(draws(online) - 4).max(axis=1) < 2.5).mean()
        assert near == pytest.approx(1 - EXPLORED, abs=0.1) if learning else near == 0


def test_what_was_learned_can_be_saved():
    """The same draws after a round trip, infeasible runs included; broken state is refused."""
    online = Online(SPREAD)
    for cost in (3.0, np.inf, 1.0):
        online.learn(cost, np.full(len(SPREAD), cost if np.isfinite(cost) else 7.0))
    again = Online(SPREAD)
    again.load_state_dict(online.state_dict())
    assert np.array_equal(draws(online), draws(again))
    with pytest.raises(ValueError, match="outputs"):
        again.load_state_dict({"elite": [[1.0, [0.0]]]})
