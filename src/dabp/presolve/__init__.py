"""Exact simplifications before a solve, undone on the answer; `pipeline` puts the techniques in order."""

from dabp.presolve.pipeline import Facts as Facts
from dabp.presolve.pipeline import Presolved as Presolved
from dabp.presolve.pipeline import presolve as presolve
