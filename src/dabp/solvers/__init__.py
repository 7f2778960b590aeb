"""Every method, one folder each, behind one contract (`base`) and one list of names (`registry`)."""

from dabp.solvers.registry import SOLVERS as SOLVERS
from dabp.solvers.registry import entry as entry
from dabp.solvers.registry import make_solver as make_solver
from dabp.solvers.registry import parameters as parameters
