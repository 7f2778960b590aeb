"""Python expressions in files, evaluated into tables without ever running them as code.

An expression is parsed with `ast`, every node is checked against what is allowed, and the tree is then walked with
NumPy arrays, so that all cells of a table are computed at once. Numbers are float64; what would raise an exception in
Python for a cell (a division by zero) is nan there, and refused at the end unless a condition leaves it out.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.formats.text import Source
from dabp.problem import Label

Array = NDArray[Any]
"""float64, or objects where values are text; an axis per variable, of length 1 where it does not matter."""

_LONGEST = 10_000
_DEEPEST = 100
_MOST_JOINS = 1000  # names that a function's conditions assign, those of nested ones counted for each
_BLOCK = 2**18  # cells evaluated at a time, which bounds the temporary arrays

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Array, Array], Array]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
}
_FUNCTIONS = ("abs", "min", "max", "round", "int", "float", "bool")


@dataclass
class _Run:
    """The result of a function body so far, nan where it has not returned."""

    result: Array


@dataclass
class _End:
    """What names mean after some statements, and the cells that come to their end without return."""

    names: dict[str, Array]
    cells: Array


class Expression:
    """One expression, or a function body of ``if``, assignments and ``return``.

    Attributes
    ----------
    names
        The variables it mentions, in order of first appearance.
    steps
        How many operations one evaluation takes, for limits.
    """

    def __init__(self, source: Source, text: str, line: int):
        self._source, self._line = source, line
        if len(text) > _LONGEST:
            raise source.error(f"an expression has {len(text)} characters; {_LONGEST} is the most", line)
        self._body = self._parsed(text)
        self._check_depth(self._body, 0)
        self._assigned: dict[int, set[str]] = {}
        self._note_assigned(self._body)
        joins = sum(map(len, self._assigned.values()))
        if joins > _MOST_JOINS:
            raise source.error(f"the conditions of a function assign more than {_MOST_JOINS} names", line)
        self.steps = len(self._walk()) + joins
        assigned = {node.id for node in self._walk() if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        called = {id(node.func) for node in self._walk() if isinstance(node, ast.Call)}
        found = [
            (node.lineno, node.col_offset, node.id)
            for node in self._walk()
            if isinstance(node, ast.Name) and id(node) not in called and node.id not in assigned
        ]
        self.names = tuple(dict.fromkeys(name for _, _, name in sorted(found)))

    def _note_assigned(self, statements: Sequence[ast.AST]) -> set[str]:
        """The names that statements assign; those of every ``if`` are kept, as it has to join them."""
        found: set[str] = set()
        for statement in statements:
            if isinstance(statement, ast.Assign):
                found.update(target.id for target in statement.targets if isinstance(target, ast.Name))
            elif isinstance(statement, ast.If):
                names = self._note_assigned(statement.body) | self._note_assigned(statement.orelse)
                self._assigned[id(statement)] = names
                found |= names
        return found

    def _walk(self) -> list[ast.AST]:
        return [node for statement in self._body for node in ast.walk(statement)]

    def _parsed(self, text: str) -> Sequence[ast.AST]:
        stripped = text.strip()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "1if x else 0" only deserves a warning
            return self._read(text, stripped)

    def _read(self, text: str, stripped: str) -> Sequence[ast.AST]:
        try:
            if "\n" in stripped or "return" in stripped:
                indented = "\n".join(" " + one for one in text.expandtabs().split("\n"))
                tree = ast.parse(f"def f():\n{indented}")
                if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
                    raise self._source.error("a function has code outside of itself", self._line)
                if any(isinstance(node, ast.Return) for node in ast.walk(tree)):
                    return tree.body[0].body
            return [ast.parse(" ".join(stripped.split()), mode="eval").body]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or "nested too deeply"
            raise self._source.error(f"an expression cannot be read ({reason})", self._line) from None

    def _check_depth(self, nodes: Sequence[ast.AST], depth: int) -> None:
        if depth > _DEEPEST:
            raise self._source.error(f"an expression is nested more than {_DEEPEST} deep", self._line)
        for node in nodes:
            self._check_depth(list(ast.iter_child_nodes(node)), depth + 1)

    def evaluate(self, domains: Mapping[str, Sequence[Label]], constants: Mapping[str, Label]) -> NDArray[np.float64]:
        """The table with an axis per variable of `domains`, in that order; `constants` are further names."""
        shape = tuple(len(values) for values in domains.values())
        fixed = {name: _array([value], ()) for name, value in constants.items()}
        if not shape:
            return self._table(fixed, ())
        table = np.empty(shape)
        rows = max(1, _BLOCK // max(1, int(np.prod(shape[1:]))))
        for start in range(0, shape[0], rows):
            environment = dict(fixed)
            part = slice(start, start + rows)
            for axis, (name, values) in enumerate(domains.items()):
                chosen = values[part] if axis == 0 else values
                environment[name] = _array(chosen, tuple(-1 if a == axis else 1 for a in range(len(shape))))
            table[part] = self._table(environment, (len(table[part]), *shape[1:]))
        return table

    def _table(self, environment: Mapping[str, Array], shape: tuple[int, ...]) -> NDArray[np.float64]:
        with np.errstate(all="ignore"):
            value = self._returned(environment) if self._is_body() else self._value(self._body[0], environment)
        self._check_number(value)
        if np.isnan(value).any():
            raise self._source.error("an expression has no value for some values (a division by zero?)", self._line)
        return np.broadcast_to(value, shape)

    def _check_number(self, value: Array) -> None:
        if value.dtype == object:
            raise self._source.error("an expression gives text, a number was expected", self._line)

    def _is_body(self) -> bool:
        return isinstance(self._body[0], ast.stmt)

    def _returned(self, environment: Mapping[str, Array]) -> Array:
        """What a function body returns."""
        run = _Run(np.asarray(np.nan))
        end = self._block(self._body, environment, np.asarray(True), run)
        if end is not None and end.cells.any():
            raise self._source.error("a function can end without return", self._line)
        return run.result

    def _block(
        self, statements: Sequence[ast.AST], environment: Mapping[str, Array], cells: Array, run: _Run
    ) -> _End | None:
        """Run statements on all cells, of which only `cells` count; where and how they end, None if all return."""
        names = dict(environment)
        for statement in statements:
            if isinstance(statement, ast.Return) and statement.value is not None:
                value = self._value(statement.value, names)
                self._check_number(value)
                run.result = np.where(cells, value, run.result)
                return None
            if isinstance(statement, ast.Assign) and all(isinstance(one, ast.Name) for one in statement.targets):
                value = self._value(statement.value, names)
                names.update((target.id, value) for target in statement.targets if isinstance(target, ast.Name))
            elif isinstance(statement, ast.If):
                condition = _truth(self._value(statement.test, names))
                yes = self._block(statement.body, names, cells & (condition == 1), run)
                no = self._block(statement.orelse, names, cells & (condition == 0), run)
                if yes is None and no is None:
                    return None
                names, cells = _joined(condition, yes, no, self._assigned[id(statement)])
            elif not isinstance(statement, ast.Pass):
                raise self._refusal(statement)
        return _End(names, cells)

    def _refusal(self, node: ast.AST) -> Exception:
        shown = ast.unparse(node).split("\n")[0][:40]
        return self._source.error(f"an expression cannot have {shown!r}; only arithmetic and conditions", self._line)

    def _value(self, node: ast.AST, environment: Mapping[str, Array]) -> Array:
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                return self._constant(node)
            case ast.Name(id=name) if name in environment:
                return environment[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._arithmetic(op, self._value(left, environment), self._value(right, environment))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, self._value(operand, environment))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison(node, environment, left, ops, others)
            case ast.BoolOp(op=op, values=values):
                parts = [self._value(one, environment) for one in values]
                if isinstance(op, ast.And):
                    return reduce(lambda a, b: _choose(_truth(a), b, a), parts)
                return reduce(lambda a, b: _choose(_truth(a), a, b), parts)
            case ast.IfExp(test=test, body=body, orelse=other):
                condition = _truth(self._value(test, environment))
                return _choose(condition, self._value(body, environment), self._value(other, environment))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
                return self._call(node, name, [self._value(one, environment) for one in args])
            case _:
                raise self._refusal(node)

    def _constant(self, node: ast.Constant) -> Array:
        try:
            return _array([node.value], ())
        except OverflowError:
            raise self._source.error("an expression has a number beyond float64", self._line) from None

    def _arithmetic(self, op: ast.operator, left: Array, right: Array) -> Array:
        if left.dtype == object or right.dtype == object:
            raise self._source.error("an expression calculates with text", self._line)
        result = _ARITHMETIC[type(op)](left, right)
        invalid = np.isinf(result) & np.isfinite(left) & np.isfinite(right)
        if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod):
            invalid = invalid | (right == 0)
        return np.where(invalid, np.nan, result)

    def _unary(self, node: ast.AST, op: ast.unaryop, value: Array) -> Array:
        if isinstance(op, ast.Not):
            truth = _truth(value)
            return np.where(np.isnan(truth), np.nan, truth == 0)
        if value.dtype == object or not isinstance(op, ast.USub | ast.UAdd):
            raise self._refusal(node)
        return -value if isinstance(op, ast.USub) else value

    def _comparison(
        self,
        node: ast.AST,
        environment: Mapping[str, Array],
        left: ast.expr,
        ops: list[ast.cmpop],
        others: list[ast.expr],
    ) -> Array:
        result: Array | None = None
        value = self._value(left, environment)
        for op, other in zip(ops, others, strict=True):
            if isinstance(op, ast.In | ast.NotIn) and isinstance(other, ast.List | ast.Tuple | ast.Set) and other.elts:
                members = [_compare(operator.eq, value, self._value(one, environment)) for one in other.elts]
                found = reduce(np.maximum, members)
                part = 1 - found if isinstance(op, ast.NotIn) else found
            elif type(op) in _COMPARISONS:
                right = self._value(other, environment)
                ordering = not isinstance(op, ast.Eq | ast.NotEq)
                if ordering and (value.dtype == object) != (right.dtype == object):
                    raise self._source.error("an expression compares text with a number", self._line)
                part = _compare(_COMPARISONS[type(op)], value, right)
                value = right
            else:
                raise self._refusal(node)
            result = part if result is None else _choose(result, part, result)
        assert result is not None
        return result

    def _call(self, node: ast.AST, name: str, args: list[Array]) -> Array:
        if name == "float" and len(args) == 1 and args[0].dtype == object and args[0].size == 1:
            text = str(args[0].item()).lower().lstrip("+")
            if text in ("inf", "infinity", "-inf", "-infinity"):
                return np.asarray(-np.inf if text[0] == "-" else np.inf)
        if any(one.dtype == object for one in args):
            raise self._refusal(node)
        if name in ("min", "max") and len(args) > 1:
            return reduce(np.minimum if name == "min" else np.maximum, args)
        if name == "round" and len(args) == 2 and args[1].size == 1 and abs(float(args[1].item())) <= 20:
            digits = int(args[1].item())
            rounded = np.frompyfunc(lambda x: x if x != x or abs(x) == np.inf else round(x, digits), 1, 1)(args[0])
            return np.asarray(rounded, dtype=np.float64)
        if len(args) != 1 or name in ("min", "max"):
            raise self._refusal(node)
        single: dict[str, Callable[[Array], Array]] = {
            "abs": np.abs,
            "round": np.rint,
            "int": np.trunc,
            "float": np.asarray,
            "bool": _truth,
        }
        return single[name](args[0])


def _array(values: Sequence[Any], shape: tuple[int, ...]) -> Array:
    if any(isinstance(value, str) for value in values):
        result = np.empty(len(values), dtype=object)
        result[:] = [value if isinstance(value, str) else float(value) for value in values]
        return result.reshape(shape)
    return np.array([float(value) for value in values]).reshape(shape)


def _truth(value: Array) -> Array:
    """1 where a value counts as true, 0 where false, nan where it is nan."""
    if value.dtype == object:
        return np.asarray(np.frompyfunc(lambda one: one if one != one else bool(one), 1, 1)(value), dtype=np.float64)
    return np.where(np.isnan(value), np.nan, value != 0)


def _compare(compare: Callable[[Any, Any], Any], left: Array, right: Array) -> Array:
    if left.dtype == object or right.dtype == object:

        def compared(one: Any, other: Any) -> Any:
            if one != one or other != other:
                return np.nan
            try:
                return compare(one, other)
            except TypeError:  # text and a number have no order
                return np.nan

        return np.asarray(np.frompyfunc(compared, 2, 1)(left, right), dtype=np.float64)
    return np.where(np.isnan(left) | np.isnan(right), np.nan, compare(left, right))


def _choose(condition: Array, yes: Array, no: Array) -> Array:
    return np.where(np.isnan(condition), np.nan, np.where(condition != 0, yes, no))


def _joined(condition: Array, yes: _End | None, no: _End | None, assigned: set[str]) -> tuple[dict[str, Array], Array]:
    """What names mean after a condition, and where it goes on; a name that one branch lacks is nan there."""
    if yes is None or no is None:
        end = yes or no
        assert end is not None
        return end.names, end.cells
    names, missing = yes.names, np.asarray(np.nan)
    for name in assigned:
        if name in yes.names or name in no.names:
            names[name] = _choose(condition, yes.names.get(name, missing), no.names.get(name, missing))
    return names, yes.cells | no.cells
