"""`CPM_dabp`: dabp as a solver of CPMpy models.

A constraint with few combinations of values becomes one table. A larger one is decomposed by CPMpy's own
transformations into small constraints, clauses, all-different constraints and linear sums.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.result import Result
from dabp.driver.solve import solve
from dabp.errors import ProblemError
from dabp.packages import require
from dabp.problem.model import Model

require("cpmpy", "CPM_dabp")
from cpmpy.expressions.core import BoolVal, Comparison, Operator
from cpmpy.expressions.utils import argval, is_any_list, is_num
from cpmpy.expressions.variables import NegBoolView, _NumVarImpl
from cpmpy.solvers.solver_interface import ExitStatus, SolverInterface, SolverStatus
from cpmpy.transformations.comparison import only_numexpr_equality
from cpmpy.transformations.decompose_global import decompose_in_tree, decompose_objective
from cpmpy.transformations.flatten_model import flatten_constraint, flatten_objective
from cpmpy.transformations.get_variables import get_variables
from cpmpy.transformations.linearize import decompose_linear, linearize_constraint, only_positive_bv
from cpmpy.transformations.negation import push_down_negation
from cpmpy.transformations.normalize import toplevel_list
from cpmpy.transformations.reification import only_bv_reifies, only_implies, reify_rewrite
from cpmpy.transformations.safening import no_partial_functions, safen_objective

TABLE_CELLS = 2**14
"""Combinations of values up to which a constraint or a term of the objective is one table."""

LARGEST_DOMAIN = 2**20
"""Values of an integer variable."""

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EVALUATED = frozenset({"min", "max", "abs", "mul", "div", "mod", "pow", "element", "alldifferent", "xor", "table"})
"""Global functions and constraints whose small cases are evaluated instead of decomposed."""

PARTIAL = frozenset({"div", "mod", "element", "nd_element", "pow"})
"""Functions that are not defined everywhere; what contains an undefined value is false."""


class CPM_dabp(SolverInterface):  # noqa: N801  (the naming of CPMpy)
    """Interface to dabp, after CPMpy's template for solvers.

    ``CPM_dabp(model).solve(time_limit=10, solver="auto", seed=0, threads=2)`` takes what `dabp.solve` takes. Without
    a time limit it ends with a proof. ``assumptions`` are Boolean variables or their negations.

    Examples
    --------
    >>> import cpmpy as cp
    >>> x = cp.intvar(1, 9, shape=3, name="x")
    >>> model = cp.Model(cp.AllDifferent(x), cp.sum(x) == 20, minimize=x[0] * x[1])
    >>> solver = CPM_dabp(model)
    >>> solver.solve(), solver.objective_value()
    (True, 27)
    """

    supported_global_constraints = EVALUATED

    @staticmethod
    def supported() -> bool:
        """Whether dabp is installed, which this module shows."""
        return True

    @classmethod
    def version(cls) -> str:
        """The version of dabp."""
        return version("dabp")

    def __init__(self, cpm_model: Any = None, subsolver: str | None = None):
        self._solver = "auto" if subsolver is None else subsolver
        self._parts: list[Callable[[Model], None]] = []
        """What each constraint adds to the model of dabp."""
        self._objective: list[Callable[[Model], None]] | None = None
        self._objective_expression: Any = None
        self._used: set[Any] = set()
        """Variables of the problem, auxiliary ones of the transformations included."""
        self._hint: dict[str, int] = {}
        super().__init__(name="dabp", cpm_model=cpm_model)

    @property
    def native_model(self) -> Model:
        """The model as a `dabp.Model`."""
        model = Model("cpmpy")
        for variable in sorted(self._used | set(self.user_vars), key=lambda variable: variable.name):
            model.add_variable(variable.name, _domain(variable).tolist())
        for part in (*self._parts, *(self._objective or ())):
            part(model)
        return model

    def has_objective(self) -> bool:
        """Whether something is minimised or maximised."""
        return self._objective is not None

    def add(self, cpm_expr: Any) -> CPM_dabp:
        """Post a constraint, or a list of them."""
        get_variables(cpm_expr, collect=self.user_vars)
        for constraint in toplevel_list(cpm_expr):
            self._post(constraint, decompose=True)
        return self

    __add__ = add

    def objective(self, expr: Any, minimize: bool) -> None:
        """Set what is to be minimised or maximised; the last objective counts."""
        get_variables(expr, collect=self.user_vars)
        self._objective_expression = expr
        self._objective = [
            part for weight, term in _terms(expr, 1 if minimize else -1) for part in self._cost(weight, term)
        ]

    def solution_hint(self, cpm_vars: Sequence[Any], vals: Sequence[Any]) -> None:
        """Start from these values; used where they cover every variable."""
        self._hint = {variable.name: int(value) for variable, value in zip(cpm_vars, vals, strict=True)}

    def solve(
        self, time_limit: float | None = None, display: Any = None, assumptions: Sequence[Any] = (), **options: Any
    ) -> bool:
        """Solve; True if a solution was found. `options` are those of `dabp.solve`."""
        if time_limit is not None and time_limit <= 0:
            raise ValueError(f"time_limit must be positive, got {time_limit}")
        started = time.perf_counter()
        problem = self.native_model.build()
        fixed = {}
        for literal in assumptions or ():
            negated = isinstance(literal, NegBoolView)
            fixed[(literal._bv if negated else literal).name] = 0 if negated else 1
        names = problem.names.variables
        if self._hint and set(self._hint) >= set(names):
            options.setdefault("initial", self._hint)
        left = math.inf if time_limit is None else max(time_limit - (time.perf_counter() - started), 0.0)
        if fixed:
            options["fix"] = fixed
        result = solve(problem, options.pop("solver", self._solver), time_limit=left, **options)
        self.cpm_status = SolverStatus(self.name)
        self.cpm_status.exitstatus = self._exit_status(result)
        self.cpm_status.solve_time = time.perf_counter() - started
        solved = bool(self._solve_return(self.cpm_status))
        self.objective_value_ = None
        for variable in self.user_vars:
            if solved and result.values is not None:
                value = int(result.values[variable.name])
                variable._value = bool(value) if variable.is_bool() else value
            else:
                variable.clear()
        if solved and self._objective is not None:
            expression = self._objective_expression
            self.objective_value_ = argval(expression)
        if solved and display is not None:
            self.print_display(display)
        return solved

    def _exit_status(self, result: Result) -> Any:
        if result.status.value == "INFEASIBLE":
            return ExitStatus.UNSATISFIABLE
        if result.assignment is None or not math.isfinite(result.cost or 0.0):
            return ExitStatus.UNKNOWN
        proved = result.status.value == "OPTIMAL" and self.has_objective()
        return ExitStatus.OPTIMAL if proved else ExitStatus.FEASIBLE

    def solver_var(self, cpm_var: Any) -> Any:
        """The name of a variable in the model of dabp; constants are themselves."""
        return cpm_var.name if isinstance(cpm_var, _NumVarImpl) else cpm_var

    def transform(self, cpm_expr: Any) -> list[Any]:
        """A constraint as flat constraints: tables, clauses, all-different and linear ones."""
        total = no_partial_functions(toplevel_list(cpm_expr), safen_toplevel=PARTIAL)
        flat = decompose_in_tree(push_down_negation(total), EVALUATED, csemap=self._csemap)
        return list(flatten_constraint(flat, csemap=self._csemap))

    def _post(self, constraint: Any, decompose: bool) -> None:
        """Add a constraint: as a table if it is small, else by what it is."""
        if isinstance(constraint, bool | np.bool_ | BoolVal):
            if not bool(constraint):
                self._parts.append(lambda model: model.add_cost([model.add_variable("contradiction", 1)], [np.inf]))
            return
        if (scope := _small_scope(constraint)) is not None:
            allowed = _evaluate(constraint, _axes(scope)).astype(bool)
            shape = tuple(len(_domain(variable)) for variable in scope)
            costs = np.where(np.broadcast_to(allowed, shape), 0.0, np.inf)
            self._add_table(scope, costs)
        elif constraint.name == "alldifferent" and all(_is_variable(part) for part in constraint.args):
            names = [variable.name for variable in self._use(constraint.args)]
            self._parts.append(lambda model: model.all_different(names))
        elif constraint.name == "or" and all(_small_scope(part) is not None for part in constraint.args):
            self._post_clause(constraint.args)
        elif decompose:
            for part in self.transform(constraint):
                self._post(part, decompose=False)
        else:
            self._post_linear(constraint)

    def _post_hidden(self, constraints: Sequence[Any]) -> None:
        """Add constraints whose variables the user does not know."""
        for constraint in toplevel_list(list(constraints)):
            self._post(constraint, decompose=True)

    def _post_clause(self, literals: Sequence[Any]) -> None:
        """At least one of some small constraints holds: a chain of hidden Boolean variables."""
        tables = []
        for literal in literals:
            scope = self._use(_small_scope(literal) or ())
            shape = tuple(len(_domain(variable)) for variable in scope)
            holds = np.broadcast_to(_evaluate(literal, _axes(scope)), shape).astype(bool)
            tables.append(([variable.name for variable in scope], holds))
        number = len(self._parts)

        def add(model: Model) -> None:
            before: list[str] = []
            for i, (names, holds) in enumerate(tables):
                if i == len(tables) - 1:
                    wrong = ~holds if not before else np.stack([~holds, np.zeros_like(holds)])
                    model.add_cost([*before, *names], np.where(wrong, np.inf, 0.0))
                    return
                state = model.add_variable(f"clause {number}.{i}", 2)
                after = holds if not before else np.stack([holds, np.ones_like(holds)])
                wrong = np.stack([after, ~after], axis=-1)
                model.add_cost([*before, *names, state], np.where(wrong, np.inf, 0.0))
                before = [state]

        self._parts.append(add)

    def _post_linear(self, constraint: Any) -> None:
        """A flat constraint of many variables as linear ones."""
        flat = decompose_linear([constraint], frozenset({"alldifferent"}), csemap=self._csemap)
        flat = flatten_constraint(push_down_negation(flat), csemap=self._csemap)
        flat = reify_rewrite(flat, supported=frozenset({"sum", "wsum"}), csemap=self._csemap)
        flat = only_numexpr_equality(flat, supported=frozenset({"sum", "wsum", "sub"}), csemap=self._csemap)
        flat = only_implies(only_bv_reifies(flat, csemap=self._csemap), csemap=self._csemap)
        flat = linearize_constraint(flat, supported=frozenset({"sum", "wsum", "alldifferent"}), csemap=self._csemap)
        for part in only_positive_bv(flat, csemap=self._csemap):
            if _small_scope(part) is not None or part.name == "alldifferent":
                self._post(part, decompose=False)
                continue
            if not isinstance(part, Comparison) or part.name not in ("<=", ">=", "=="):
                raise ProblemError(f"constraint {part} cannot be stated as tables or sums")
            weights: dict[str, int] = {}
            constant = 0
            for side, sign in ((part.args[0], 1), (part.args[1], -1)):
                for weight, term in _terms(side, sign):
                    if is_num(term):
                        constant += weight * _number(term)
                    else:
                        name = self._use([term])[0].name
                        weights[name] = weights.get(name, 0) + weight

            def add(model: Model, weights: Any = weights, name: str = part.name, bound: int = -constant) -> None:
                model.linear(weights, name, bound)

            self._parts.append(add)

    def _cost(self, weight: Any, term: Any) -> list[Callable[[Model], None]]:
        """A weight times a term of the objective."""
        if is_num(term):
            return [lambda model: model.add_constant(float(weight * _number(term)))]
        scope = _small_scope(term)
        if scope is None:
            safe, constraints = safen_objective(term)
            safe, decomposed = decompose_objective(safe, EVALUATED, csemap=self._csemap)
            flat, flattened = flatten_objective(safe, csemap=self._csemap)
            self._post_hidden([*constraints, *decomposed, *flattened])
            parts = []
            for factor, part in _terms(flat, weight):
                if not is_num(part) and _small_scope(part) is None:
                    raise ProblemError(f"objective term {part} cannot be stated as tables")
                parts += self._cost(factor, part)
            return parts
        names = [variable.name for variable in self._use(scope)]
        shape = tuple(len(_domain(variable)) for variable in scope)
        values = np.broadcast_to(_evaluate(term, _axes(scope)), shape)
        costs = np.where(np.isnan(values), np.inf, values * weight)
        return [lambda model: model.add_cost(names, costs)]

    def _add_table(self, scope: Sequence[Any], costs: NDArray[np.float64]) -> None:
        names = [variable.name for variable in self._use(scope)]
        if names:
            self._parts.append(lambda model: model.add_cost(names, costs))
        elif not np.isfinite(costs).all():
            self._post(False, decompose=False)

    def _use(self, variables: Iterable[Any]) -> list[Any]:
        """Variables without their negations, noted as part of the problem."""
        plain = [variable._bv if isinstance(variable, NegBoolView) else variable for variable in variables]
        self._used.update(plain)
        return plain


def _number(constant: Any) -> Any:
    """A constant as a number: a truth constant of CPMpy as 0 or 1."""
    return int(bool(constant)) if isinstance(constant, BoolVal) else constant


def _is_variable(expression: Any) -> bool:
    return isinstance(expression, _NumVarImpl) and not isinstance(expression, NegBoolView)


def _domain(variable: Any) -> NDArray[np.int64]:
    """The values of a variable."""
    low, high = variable.get_bounds()
    if high - low >= LARGEST_DOMAIN:
        raise ProblemError(f"variable {variable.name!r} has {high - low + 1:,} values, more than {LARGEST_DOMAIN:,}")
    return np.arange(int(low), int(high) + 1)


def _small_scope(expression: Any) -> list[Any] | None:
    """The variables of an expression that one table can hold; None if it is too large or of another kind."""
    if is_num(expression):
        return []
    if not _evaluable(expression):
        return None
    scope = sorted(
        {v._bv if isinstance(v, NegBoolView) else v for v in get_variables(expression)}, key=lambda v: str(v.name)
    )
    cells = 1
    for variable in scope:
        low, high = variable.get_bounds()
        cells *= int(high - low) + 1
        if cells > TABLE_CELLS and len(scope) > 1:
            return None
    return scope


def _evaluable(expression: Any) -> bool:
    """Whether `_evaluate` knows everything in an expression."""
    if is_any_list(expression):
        return all(_evaluable(part) for part in expression)
    if is_num(expression) or isinstance(expression, _NumVarImpl | BoolVal):
        return True
    if not isinstance(expression, Comparison | Operator) and expression.name not in EVALUATED:
        return False
    return all(_evaluable(part) for part in expression.args)


def _axes(scope: Sequence[Any]) -> dict[str, NDArray[np.float64]]:
    """The values of each variable along an axis of its own."""
    return {
        variable.name: _domain(variable).astype(np.float64).reshape([-1 if i == j else 1 for j in range(len(scope))])
        for i, variable in enumerate(scope)
    }


def _evaluate(expression: Any, axes: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """What an expression is for all values of its variables at once; truth values are 0 and 1, NaN is undefined."""
    if is_num(expression):
        return np.asarray(_number(expression), dtype=np.float64)
    if isinstance(expression, NegBoolView):
        return 1 - axes[expression._bv.name]
    if isinstance(expression, _NumVarImpl):
        return axes[expression.name]
    name, arguments = expression.name, expression.args
    if name == "wsum":
        return _folded(np.add, [w * _evaluate(part, axes) for w, part in zip(*arguments, strict=True)])
    if name == "element":
        index = _evaluate(arguments[1], axes)
        result = np.full(index.shape, np.nan)
        for place, choice in enumerate(arguments[0]):
            result = np.where(index == place, _evaluate(choice, axes), result)
        return result
    if name == "table":
        columns = [_evaluate(part, axes) for part in arguments[0]]
        rows = [_folded(np.multiply, [c == int(v) for c, v in zip(columns, row, strict=True)]) for row in arguments[1]]
        return _folded(np.maximum, rows) if rows else np.zeros(())
    parts = [_evaluate(part, axes) for part in arguments]
    if isinstance(expression, Comparison):
        return _defined(COMPARISONS[name](*parts), parts)
    if name == "alldifferent":
        pairs = [parts[i] != parts[j] for i in range(len(parts)) for j in range(i)]
        return _defined(_folded(np.multiply, pairs) if pairs else np.ones(()), parts)
    return _operation(name, parts)


def _defined(truth: NDArray[Any], parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """A truth value, false where one of its parts is undefined."""
    return _folded(np.multiply, [truth, *(~np.isnan(part) for part in parts)])


OPERATIONS: dict[str, Callable[..., Any]] = {
    "->": lambda a, b: np.maximum(1 - a, b),
    "not": lambda a: 1 - a,
    "-": np.negative,
    "abs": np.abs,
    "sub": np.subtract,
    "div": lambda a, b: np.trunc(a / np.where(b == 0, np.nan, b)),
    "mod": lambda a, b: np.fmod(a, np.where(b == 0, np.nan, b)),
    "pow": lambda a, b: np.where(b < 0, np.nan, a ** np.maximum(b, 0)),
}

FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "and": np.multiply,
    "or": np.maximum,
    "sum": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "xor": np.not_equal,
}
"""Operators of any number of arguments."""


def _operation(name: str, parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """An operator of CPMpy on arrays."""
    return _folded(FOLDED[name], parts) if name in FOLDED else np.asarray(OPERATIONS[name](*parts), dtype=np.float64)


def _folded(function: Callable[[Any, Any], Any], parts: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """A function of two arguments over several arrays."""
    result = np.asarray(parts[0], dtype=np.float64)
    for part in parts[1:]:
        result = np.asarray(function(result, part), dtype=np.float64)
    return result


def _terms(expression: Any, weight: Any) -> list[tuple[Any, Any]]:
    """An expression as a sum of weighted terms."""
    if isinstance(expression, Operator):
        if expression.name == "sum":
            return [term for part in expression.args for term in _terms(part, weight)]
        if expression.name == "wsum":
            pairs = zip(*expression.args, strict=True)
            return [term for factor, part in pairs for term in _terms(part, weight * _number(factor))]
        if expression.name == "sub":
            return [*_terms(expression.args[0], weight), *_terms(expression.args[1], -weight)]
        if expression.name == "-":
            return _terms(expression.args[0], -weight)
    if getattr(expression, "name", None) == "mul" and is_num(expression.args[0]):
        return _terms(expression.args[1], weight * _number(expression.args[0]))
    return [(weight, expression)]
