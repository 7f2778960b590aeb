"""Solvers by name, and by what others call them."""

from __future__ import annotations

import pytest

from dabp.errors import ParameterError
from dabp.solvers.registry import ELSEWHERE, SOLVERS, entry


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("maxsum", "bp"),
        ("max-sum", "bp"),
        ("Max_Sum", "bp"),
        ("dpop", "mbe"),
        ("gibbs", "annealing"),
        ("TRW-S", "dual"),
        ("cp-sat", "toulbar2"),
        ("Annealing", "annealing"),
        ("dpb", "dbp"),
    ],
)
def test_a_wrong_name_leads_to_the_right_one(name: str, meant: str) -> None:
    """Other tools' words, other letters, and typing errors."""
    with pytest.raises(ParameterError, match=f"no solver {name!r};.* '{meant}'"):
        entry(name)


def test_hints_lead_to_solvers() -> None:
    """Every one is there, and none of the hints is itself a solver's name."""
    assert set(ELSEWHERE.values()) <= set(SOLVERS)
    assert not set(ELSEWHERE) & {name.replace("-", "") for name in SOLVERS}
