"""Tables of two variables copied one way round or the other."""

from __future__ import annotations

import numpy as np

from dabp.kernels.dual.tables import copy_tables


def test_copies_are_turned_and_padded() -> None:
    """Against transposition, with the last entry of each row repeated to its end."""
    rng = np.random.default_rng(0)
    for rows, columns in ((2, 5), (5, 2), (3, 3), (1, 4)):
        pool = rng.random(7 * rows * columns)
        pool.flags.writeable = False
        begin = rows * columns * rng.permutation(7)[:4]
        tables = pool.reshape(7, rows, columns)[begin // (rows * columns)]
        for side, lanes, others in ((0, rows, columns), (1, columns, rows)):
            ends = 2 * rng.permutation(4) + side
            padded = np.empty((4, others, 8))
            copy_tables(pool, begin, ends, lanes, padded)
            wanted = tables[ends // 2].transpose(0, 2, 1) if side == 0 else tables[ends // 2]
            assert np.array_equal(padded[:, :, :lanes], wanted)
            assert (padded[:, :, lanes:] == wanted[:, :, -1:]).all()
