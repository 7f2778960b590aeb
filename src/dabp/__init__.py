"""dabp: constraint optimisation by deep attentive belief propagation and its strongest peers.

Nothing heavy is imported here; names are resolved when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0.dev0"

_HOMES = {
    "Problem": "problem",
    "Variable": "problem",
    "Factor": "problem",
    "interop": "problem.interop",
    "maxcut": "problem.graph_problems",
    "independent_set": "problem.graph_problems",
    "colouring": "problem.graph_problems",
    "Model": "problem.model",
    "solve": "driver.solve",
    "Improvements": "driver.improvements",
    "Incremental": "driver.incremental",
    "improvements": "driver.improvements",
    "on_improvement": "driver.improvements",
    "Learned": "driver.learned",
    "Limits": "driver.stopping",
    "Checkpoint": "driver.checkpoint.saving",
    "solve_restarts": "cluster.restarts",
    "solve_several": "driver.several",
    "solve_together": "cluster.together",
    "CPM_dabp": "integrations.cpmpy_solver",
    "DabpSampler": "integrations.sampler",
    "conflict": "driver.conflict",
    "Conflict": "driver.conflict",
    "Result": "driver.result",
    "Status": "solvers.status",
    "Trace": "driver.trace",
    "read": "formats",
    "write": "formats",
    "read_solution": "formats.solution",
    "write_solution": "formats.solution",
    "generate": "lab.generators",
    "DabpError": "errors",
    "FormatError": "errors",
    "ParameterError": "errors",
    "ProblemError": "errors",
}

__all__ = ["__version__", *_HOMES]

if TYPE_CHECKING:
    from dabp.cluster.restarts import solve_restarts as solve_restarts
    from dabp.cluster.together import solve_together as solve_together
    from dabp.driver.checkpoint.saving import Checkpoint as Checkpoint
    from dabp.driver.conflict import Conflict as Conflict
    from dabp.driver.conflict import conflict as conflict
    from dabp.driver.improvements import Improvements as Improvements
    from dabp.driver.improvements import improvements as improvements
    from dabp.driver.improvements import on_improvement as on_improvement
    from dabp.driver.incremental import Incremental as Incremental
    from dabp.driver.learned import Learned as Learned
    from dabp.driver.result import Result as Result
    from dabp.driver.several import solve_several as solve_several
    from dabp.driver.solve import solve as solve
    from dabp.driver.stopping import Limits as Limits
    from dabp.driver.trace import Trace as Trace
    from dabp.errors import DabpError as DabpError
    from dabp.errors import FormatError as FormatError
    from dabp.errors import ParameterError as ParameterError
    from dabp.errors import ProblemError as ProblemError
    from dabp.formats import read as read
    from dabp.formats import write as write
    from dabp.formats.solution import read_solution as read_solution
    from dabp.formats.solution import write_solution as write_solution
    from dabp.integrations.cpmpy_solver import CPM_dabp as CPM_dabp
    from dabp.integrations.sampler import DabpSampler as DabpSampler
    from dabp.lab.generators import generate as generate
    from dabp.problem import Problem as Problem
    from dabp.problem import interop as interop
    from dabp.problem.graph_problems import colouring as colouring
    from dabp.problem.graph_problems import independent_set as independent_set
    from dabp.problem.graph_problems import maxcut as maxcut
    from dabp.problem.model import Model as Model
    from dabp.problem.views import Factor as Factor
    from dabp.problem.views import Variable as Variable
    from dabp.solvers.status import Status as Status


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        module = importlib.import_module(f"dabp.{_HOMES[name]}")
        value = module if name == "interop" else getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dabp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
