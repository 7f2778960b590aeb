"""The processes of toulbar2 that this one started, and a problem that keeps one busy."""

from __future__ import annotations

import contextlib

import psutil

import dabp
from dabp.problem import Problem


def hard_problem() -> Problem:
    """A problem that toulbar2 does not finish within a test."""
    return dabp.generate("random-cop", variables=60, domain=15, density=0.25, seed=1)


def children() -> list[psutil.Process]:
    """The living processes of toulbar2 that this one started."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may end between the two questions
            if "toulbar2/child" in str(child.cmdline()):
                found.append(child)
    return found
