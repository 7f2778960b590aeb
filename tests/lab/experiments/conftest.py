"""Every test of experiments may run the solvers of ``faults``."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _faults(importable_faults: None) -> None:
    """Imported by the processes of runs."""
