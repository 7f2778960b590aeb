"""What threads that sweep together share."""

from __future__ import annotations

import numpy as np

from dabp.kernels.decorators import kernel
from dabp.kernels.local_search.random_stream import draw
from dabp.kernels.local_search.shared_sweep import state_at


def test_a_variable_has_its_number_of_the_stream() -> None:
    """Whoever asks for it: the number that as many draws come to."""
    numbers = kernel(lambda random: draw(random))
    at = kernel(lambda random, i: state_at(random, i))
    random, other = np.array([7], dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    expected = [int(numbers(random)) for _ in range(5)]
    for i in range(5):
        other[0] = at(np.array([7], dtype=np.uint64), i)
        assert int(numbers(other)) == expected[i]
