"""Python expressions in files, evaluated into tables without ever running them as code.

An expression is parsed with `ast`, every node is checked against what is allowed, and the tree is then walked with
NumPy arrays, so that all cells of a table are computed at once. Numbers are float64; what would raise an exception in
Python for a cell (a division by zero) is nan there, as is everything calculated from it, and refused at the end unless
a condition leaves it out.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.formats.text import Source
from dabp.problem import Label

Array = NDArray[Any]
"""float64, or objects where values are text; an axis per variable, of length 1 where it does not matter."""

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


class _End(NamedTuple):
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
        if len(text) > 10_000:
            raise self._error(f"has {len(text)} characters; 10000 is the most")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "1if x else 0" only deserves a warning
            self._body = self._parsed(text)
        self._check_depth(self._body, 0)
        self._assigned: dict[int, set[str]] = {}  # of each `if`, the names that it has to join
        self._note_assigned(self._body)
        joins = sum(map(len, self._assigned.values()))
        if joins > 1000:  # names, those of nested conditions counted for each
            raise source.error("the conditions of a function assign more than 1000 names", line)
        nodes = [node for statement in self._body for node in ast.walk(statement)]
        self.steps = len(nodes) + joins
        names = [node for node in nodes if isinstance(node, ast.Name)]
        assigned = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        found = [(n.lineno, n.col_offset, n.id) for n in names if id(n) not in called and n.id not in assigned]
        self.names = tuple(dict.fromkeys(name for _, _, name in sorted(found)))

    def _error(self, message: str) -> Exception:
        return self._source.error(f"an expression {message}", self._line)

    def _refusal(self, node: ast.AST) -> Exception:
        shown = ast.unparse(node).split("\n")[0][:40]
        return self._error(f"cannot have {shown!r}; only arithmetic and conditions")

    def _parsed(self, text: str) -> Sequence[ast.AST]:
        stripped = text.strip()
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
            raise self._error(f"cannot be read ({getattr(error, 'msg', None) or 'nested too deeply'})") from None

    def _check_depth(self, nodes: Iterable[ast.AST], depth: int) -> None:
        if depth > 100:
            raise self._error("is nested more than 100 deep")
        for node in nodes:
            self._check_depth(ast.iter_child_nodes(node), depth + 1)

    def _note_assigned(self, statements: Sequence[ast.AST]) -> set[str]:
        found: set[str] = set()
        for statement in statements:
            if isinstance(statement, ast.Assign):
                found.update(target.id for target in statement.targets if isinstance(target, ast.Name))
            elif isinstance(statement, ast.If):
                names = self._note_assigned(statement.body) | self._note_assigned(statement.orelse)
                self._assigned[id(statement)] = names
                found |= names
        return found

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
            if isinstance(self._body[0], ast.stmt):
                value = np.asarray(np.nan)
                for cells, returned in self._returns(environment):
                    value = np.where(cells, returned, value)
            else:
                value = self._number(self._body[0], environment)
        if np.isnan(value).any():
            raise self._error("has no value for some values (a division by zero?)")
        return np.broadcast_to(value, shape)

    def _number(self, node: ast.AST, environment: Mapping[str, Array]) -> Array:
        value = self._value(node, environment)
        if value.dtype == object:
            raise self._error("gives text, a number was expected")
        return value

    def _returns(self, environment: Mapping[str, Array]) -> list[tuple[Array, Array]]:
        found: list[tuple[Array, Array]] = []
        end = self._block(self._body, environment, np.asarray(True), found)
        if end is not None and end.cells.any():
            raise self._source.error("a function can end without return", self._line)
        return found

    def _block(
        self,
        statements: Sequence[ast.AST],
        environment: Mapping[str, Array],
        cells: Array,
        found: list[tuple[Array, Array]],
    ) -> _End | None:
        """Run statements on all cells, of which only `cells` count; how they end, None if all cells return."""
        names = dict(environment)
        for statement in statements:
            if isinstance(statement, ast.Return) and statement.value is not None:
                found.append((cells, self._number(statement.value, names)))
                return None
            if isinstance(statement, ast.Assign) and all(isinstance(one, ast.Name) for one in statement.targets):
                value = self._value(statement.value, names)
                names.update((target.id, value) for target in statement.targets if isinstance(target, ast.Name))
            elif isinstance(statement, ast.If):
                condition = _truth(self._value(statement.test, names))
                yes = self._block(statement.body, names, cells & (condition == 1), found)
                no = self._block(statement.orelse, names, cells & (condition == 0), found)
                if yes is None and no is None:
                    return None
                names, cells = _joined(condition, yes, no, self._assigned[id(statement)])
            elif not isinstance(statement, ast.Pass):
                raise self._refusal(statement)
        return _End(names, cells)

    def _value(self, node: ast.AST, environment: Mapping[str, Array]) -> Array:
        def values(nodes: Iterable[ast.AST]) -> list[Array]:
            return [self._value(one, environment) for one in nodes]

        match node:
            case ast.Constant(value=bool() | int() | float() | str() as constant):
                try:
                    return _array([constant], ())
                except OverflowError:
                    raise self._error("has a number beyond float64") from None
            case ast.Name(id=name) if name in environment:
                return environment[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._arithmetic(op, *values((left, right)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = _truth(self._value(operand, environment))
                return np.where(np.isnan(truth), np.nan, truth == 0)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                value = self._value(operand, environment)
                if value.dtype == object:
                    raise self._refusal(node)
                return -value if isinstance(op, ast.USub) else value
            case ast.Compare():
                return self._comparison(node, environment)
            case ast.BoolOp(op=ast.And(), values=parts):
                return reduce(lambda a, b: _choose(_truth(a), b, a), values(parts))
            case ast.BoolOp(op=ast.Or(), values=parts):
                return reduce(lambda a, b: _choose(_truth(a), a, b), values(parts))
            case ast.IfExp(test=test, body=body, orelse=other):
                condition, yes, no = values((test, body, other))
                return _choose(_truth(condition), yes, no)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if args:
                return self._call(node, name, values(args))
            case _:
                raise self._refusal(node)

    def _arithmetic(self, op: ast.operator, left: Array, right: Array) -> Array:
        if left.dtype == object or right.dtype == object:
            raise self._error("calculates with text")
        result = _ARITHMETIC[type(op)](left, right)
        invalid = np.isnan(left) | np.isnan(right)  # NumPy's nan ** 0 and 1 ** nan are 1
        invalid = invalid | (np.isinf(result) & np.isfinite(left) & np.isfinite(right))
        if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod):
            invalid = invalid | (right == 0)
        return np.where(invalid, np.nan, result)

    def _comparison(self, node: ast.Compare, environment: Mapping[str, Array]) -> Array:
        result = np.asarray(1.0)
        value = self._value(node.left, environment)
        for op, other in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn) and isinstance(other, ast.List | ast.Tuple | ast.Set) and other.elts:
                members = [_compare(operator.eq, value, self._value(one, environment)) for one in other.elts]
                found = reduce(np.maximum, members)
                part = 1 - found if isinstance(op, ast.NotIn) else found
            elif type(op) in _COMPARISONS:
                right = self._value(other, environment)
                if not isinstance(op, ast.Eq | ast.NotEq) and (value.dtype == object) != (right.dtype == object):
                    raise self._error("compares text with a number")
                part = _compare(_COMPARISONS[type(op)], value, right)
                value = right
            else:
                raise self._refusal(node)
            result = _choose(result, part, result)
        return result

    def _call(self, node: ast.AST, name: str, args: list[Array]) -> Array:
        first = args[0]
        if name == "float" and len(args) == 1 and first.dtype == object and first.size == 1:
            text = str(first.item()).lower().lstrip("+")
            if text in ("inf", "infinity", "-inf", "-infinity"):
                return np.asarray(-np.inf if text[0] == "-" else np.inf)
        if any(one.dtype == object for one in args):
            raise self._refusal(node)
        match name, len(args):
            case "abs", 1:
                return np.abs(first)
            case "float", 1:
                return first
            case "bool", 1:
                return _truth(first)
            case "round" | "int", 1:  # infinite numbers cannot be rounded
                return np.where(np.isinf(first), np.nan, np.rint(first) if name == "round" else np.trunc(first))
            case "round", 2 if args[1].size == 1 and abs(float(args[1].item())) <= 20:
                digits = int(args[1].item())
                rounded = np.frompyfunc(lambda x: x if x != x or abs(x) == np.inf else round(x, digits), 1, 1)(first)
                return np.asarray(rounded, dtype=np.float64)
            case "min" | "max", count if count > 1:
                return reduce(np.minimum if name == "min" else np.maximum, args)
        raise self._refusal(node)


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


def _joined(condition: Array, yes: _End | None, no: _End | None, assigned: set[str]) -> _End:
    """How the branches of a condition end together; a name that one branch lacks is nan there."""
    if yes is None or no is None:
        end = yes or no
        assert end is not None
        return end
    names, missing = yes.names, np.asarray(np.nan)
    for name in assigned:
        if name in yes.names or name in no.names:
            names[name] = _choose(condition, yes.names.get(name, missing), no.names.get(name, missing))
    return _End(names, yes.cells | no.cells)
