"""Global functions, a file each: what an assignment costs, tables that cost the same, linear rows. See `base`."""

from dabp.problem.globals.all_different import AllDifferent
from dabp.problem.globals.base import GlobalFunction, Posted, Row, Sum

__all__ = ["AllDifferent", "GlobalFunction", "Posted", "Row", "Sum"]
