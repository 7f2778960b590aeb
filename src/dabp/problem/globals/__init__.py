"""Global functions, a file each: what an assignment costs, tables that cost the same, linear rows. See `base`.

`template.py` shows how to add one.
"""

from dabp.problem.globals.all_different import AllDifferent
from dabp.problem.globals.base import GlobalFunction, Posted, Row, Sum
from dabp.problem.globals.cardinality import Bound, Cardinality
from dabp.problem.globals.cost_between import CostBetween
from dabp.problem.globals.disjunctive import Disjunctive
from dabp.problem.globals.grammar import Grammar
from dabp.problem.globals.linear import Linear
from dabp.problem.globals.max_of import MaxOf
from dabp.problem.globals.overlap import Overlap
from dabp.problem.globals.regular import Regular
from dabp.problem.globals.same import Same
from dabp.problem.globals.spanning_tree import SpanningTree

__all__ = [
    "AllDifferent",
    "Bound",
    "Cardinality",
    "CostBetween",
    "Disjunctive",
    "GlobalFunction",
    "Grammar",
    "Linear",
    "MaxOf",
    "Overlap",
    "Posted",
    "Regular",
    "Row",
    "Same",
    "SpanningTree",
    "Sum",
]
