"""The problem of most tests of the driver: small enough that random draws are good answers."""

from __future__ import annotations

import pytest

from dabp.lab.generators import generate
from dabp.problem import Problem


@pytest.fixture(scope="session")
def problem() -> Problem:
    """Eight variables of three values."""
    return generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
