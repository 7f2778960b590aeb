"""Memory that is used again once nobody holds it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.solvers.dabp.pool import ALIGNMENT, LEAST, Pool


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_memory_comes_back_when_nobody_holds_it(dtype: torch.dtype) -> None:
    """Not while a view, an array or a gradient's graph still does."""
    pool, like = Pool(), torch.zeros(1, dtype=dtype)
    shape = 2, LEAST
    first = pool.empty(shape, like)
    assert (first.dtype, first.shape) == (dtype, shape)
    assert first.data_ptr() % ALIGNMENT == 0
    place, view = first.data_ptr(), first.detach()[1]
    del first
    second = pool.empty(shape, like)
    assert second.data_ptr() != place
    del view
    assert pool.empty(shape, like).data_ptr() == place
    array = second.detach().numpy()
    other = second.data_ptr()
    del second
    array[:] = 3.0
    held = [pool.empty(shape, like).fill_(1.0) for _ in range(3)]
    assert other not in {one.data_ptr() for one in held}
    np.testing.assert_array_equal(array, 3.0)


def test_what_the_backward_pass_needs_is_kept() -> None:
    """A result that only a graph holds is not written over."""
    pool, factor = Pool(), torch.ones(1, requires_grad=True)
    total = torch.zeros(())
    for number in range(4):
        made = pool.empty((LEAST,), factor).fill_(float(number))
        total = total + (factor * made).sum()
        del made
    total.backward()
    assert factor.grad == LEAST * (0 + 1 + 2 + 3)


def test_small_and_other_sizes() -> None:
    """Each size has memory of its own; small ones are PyTorch's; all may be forgotten."""
    pool, like = Pool(), torch.zeros(1)
    sizes = [pool.empty((LEAST + n,), like) for n in (0, 1)]
    assert sizes[0].data_ptr() != sizes[1].data_ptr()
    assert pool.empty((0, 7), like).shape == (0, 7)
    pool.clear()
    assert sizes[0].fill_(2.0).sum() == 2 * LEAST
