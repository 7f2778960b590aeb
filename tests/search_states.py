"""Whether what a state of local search holds is what its assignment says."""

from __future__ import annotations

from typing import Any

import numpy as np


def sound(table: Any, state: Any) -> None:
    """Fields or local costs, sums and violations equal those computed from the assignment and the weights."""
    again = table.state(0)
    if hasattr(state, "weights"):
        again.weights[:] = state.weights
    table.put(again, table.decoded(state.x))
    for name in ("x", "field", "local", "position"):
        if hasattr(state, name):
            np.testing.assert_array_equal(getattr(state, name), getattr(again, name))
    for name in ("soft", "violations", "weighted"):
        if name == "soft" or hasattr(state, "weights"):
            assert state.tally[name] == again.tally[name]
    if hasattr(state, "weights"):
        count = int(state.tally["violations"])
        assert sorted(state.violated[:count]) == sorted(again.violated[:count])
        assert (state.place[state.violated[:count]] == np.arange(count)).all()
