"""What is solved: `Problem`, the one definition of cost, and all that follows from its columns alone.

Its names are resolved when first used, so that modules here that need no NumPy load without it.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dabp.problem.problem import Assignment as Assignment
    from dabp.problem.problem import Problem as Problem
    from dabp.problem.views import Factor as Factor
    from dabp.problem.views import FactorCost as FactorCost
    from dabp.problem.views import Label as Label
    from dabp.problem.views import Variable as Variable

_HOMES = {
    "Assignment": "problem",
    "Problem": "problem",
    "Factor": "views",
    "FactorCost": "views",
    "Label": "views",
    "Variable": "views",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    setattr(sys.modules[__name__], name, value)  # `globals` is a module here
    return value
