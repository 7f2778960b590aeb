"""Learning while solving: the first run is the policy's, good runs draw the next ones near them."""

import numpy as np
import pytest

from dabp.solvers.belief_propagation.online import ELITE, Online
from dabp.solvers.belief_propagation.policy import OUTPUTS, SPREAD

POLICY = np.zeros(len(OUTPUTS))


def draws(online: Online, count: int = 400) -> np.ndarray:
    """[count, outputs], in units of the spread."""
    rng = np.random.default_rng(0)
    return np.array([online.draw(rng, POLICY, first=False) for _ in range(count)]) / SPREAD


def test_the_first_run_is_the_policys():
    """Without noise."""
    assert np.array_equal(Online().draw(np.random.default_rng(0), POLICY, first=True), POLICY)


def test_runs_gather_around_what_did_best():
    """Not all of them, and none where learning is off."""
    good = 4 * SPREAD
    for learning in (True, False):
        online = Online(learning)
        for _ in range(ELITE):
            online.learn(1.0, good)
        for _ in range(20):
            online.learn(9.0, -good)
        near = (np.abs(draws(online) - 4).max(axis=1) < 2.5).mean()
        assert (0.5 < near < 0.9) if learning else near < 0.02


def test_what_was_learned_can_be_saved():
    """The same draws after a round trip, infeasible runs included; broken state is refused."""
    online = Online()
    for cost in (3.0, np.inf, 1.0):
        online.learn(cost, np.full(len(OUTPUTS), cost if np.isfinite(cost) else 7.0))
    again = Online()
    again.load_state_dict(online.state_dict())
    assert np.array_equal(draws(online), draws(again))
    with pytest.raises(ValueError, match="outputs"):
        again.load_state_dict({"elite": [[1.0, [0.0]]]})
