"""The numbers for machines without compiled kernels: they are about members and kernels that there are."""

from __future__ import annotations

from dabp.solvers.portfolio.cold_plan import COLD_LEAD, COLD_MEMBERS, COLD_PREPARATION, COLD_SETUP, COLD_TRIAL
from dabp.solvers.portfolio.plan import SHARES
from dabp.solvers.warming import JOBS


def test_members_and_kernels_are_known() -> None:
    """A member waits for parts of the kernels that are compiled at some time, and is one of the plan's."""
    parts = {job.split("-")[0] for job in JOBS} | set(JOBS)
    assert COLD_MEMBERS.keys() <= SHARES.keys()
    for needs in (*COLD_MEMBERS.values(), COLD_PREPARATION):
        assert needs
        assert {part.split("-")[0] for part in needs} <= parts


def test_parts_of_the_time_leave_some() -> None:
    """Laying out and proving take less than all of it, and who leads has more than others."""
    assert 0 < COLD_SETUP + COLD_TRIAL < 1 < COLD_LEAD
