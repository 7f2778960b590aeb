"""Random numbers: every stream follows from a seed that is handed in."""

from __future__ import annotations

import numpy as np


def generator(seed: int, *stream: int) -> np.random.Generator:
    """An independent random stream for (seed, stream…)."""
    return np.random.default_rng(np.random.SeedSequence([seed, *stream]))
