"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_instances() -> Path:
    """The folder of real instances beside the project; skips where it is not there."""
    folder = Path(__file__).parents[2] / "shared" / "instances"
    if not folder.is_dir():
        pytest.skip("the folder of real instances is not beside the project")
    return folder
