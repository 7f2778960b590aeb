"""Pictures are drawn without a screen, and forgotten after each test."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    from matplotlib import pyplot as plt

    yield
    plt.close("all")
