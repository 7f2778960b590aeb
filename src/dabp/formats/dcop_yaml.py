"""pyDCOP's problems (``.yaml``, ``.yml``); see docs/formats/yaml.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import yaml

from dabp.errors import FormatError
from dabp.formats.domains import Domain, Values, distinct_names, named_domains, tuples_by_cost
from dabp.formats.draft import Draft
from dabp.formats.expressions import Expression
from dabp.formats.text import Source
from dabp.formats.yaml_tree import Node, parse, scalar
from dabp.problem import Label, Problem


def read(source: Source) -> Problem:
    """Parse a pyDCOP file."""
    return _Reader(source).problem()


class _Reader:
    def __init__(self, source: Source):
        self.source = source
        self.draft = Draft(source)
        self.domains: dict[str, Domain] = {}
        self.constants: dict[str, Label] = {}
        self.inputs: dict[str, Label] = {}  # the same, as expressions see them

    def problem(self) -> Problem:
        root = self._mapping(parse(self.source), "the file")
        known = {"name", "objective", "domains", "variables", "external_variables", "constraints"}
        known |= {"description", "agents", "routes", "hosting_costs", "distribution_hints"}  # no part of the cost
        for key, node in root.items():
            if key not in known:
                raise self.source.error(f"section {key[:40]!r} is not supported", node.line)
        objective = self._text(root["objective"]) if "objective" in root else "min"
        if objective not in ("min", "max"):
            raise self.source.error(f"the objective is min or max, not {objective[:40]!r}", root["objective"].line)
        self.draft.maximize = objective == "max"
        readers = {
            "domains": self._domain,
            "variables": self._variable,
            "external_variables": self._external,
            "constraints": self._constraint,
        }
        for section, read_entry in readers.items():
            for name, node in self._mapping(root[section], section).items() if section in root else ():
                read_entry(name, node)
        return self.draft.problem(self._text(root["name"]) if "name" in root else self.source.stem)

    def _mapping(self, node: Node, what: str) -> dict[str, Node]:
        if node.empty:
            return {}
        if node.items is None:
            raise self.source.error(f"{what} should be a mapping of names", node.line)
        return node.items

    def _text(self, node: Node) -> str:
        if node.text is None:
            raise self.source.error("a word was expected", node.line)
        return node.text

    def _field(self, fields: Mapping[str, Node], key: str, line: int) -> Node:
        if key not in fields:
            raise self.source.error(f"{key!r} is missing", line)
        return fields[key]

    def _domain(self, name: str, node: Node) -> None:
        fields = self._mapping(node, f"domain {name[:40]!r}")
        values = self._field(fields, "values", node.line)
        entries = [values] if values.text is not None else values.entries
        if entries is None:
            raise self.source.error("the values of a domain should be a list", values.line)
        if len(entries) == 1 and entries[0].text is not None:
            span = re.fullmatch(r"\s*([+-]?\d{1,18})\s*\.\.\s*([+-]?\d{1,18})\s*", entries[0].text)
            if span is not None:
                self.domains[name] = self.draft.domain([range(int(span[1]), int(span[2]) + 1)], values.line)
                return
        labels = [scalar(self.source, entry) for entry in entries]
        labels = [str(one) if isinstance(one, bool) else one for one in labels]
        self.domains[name] = self.draft.domain([labels], values.line)

    def _variable(self, name: str, node: Node) -> None:
        fields = self._mapping(node, f"variable {name[:40]!r}")
        self._check_keys(fields, {"domain", "initial_value", "cost_function", "noise_level"})
        domain = self._domain_named(fields, node.line)
        index = self.draft.add_variable(name, domain, node.line)
        self._initial(fields, domain)
        if "cost_function" not in fields:
            return
        expression = Expression(self.source, self._text(fields["cost_function"]), fields["cost_function"].line)
        if any(one != name for one in expression.names):
            raise self.source.error(
                f"the cost function of {name[:40]!r} mentions another variable", fields["cost_function"].line
            )
        self._tabulate(expression, [index], fields["cost_function"].line, f"cost_{name}")

    def _domain_named(self, fields: Mapping[str, Node], line: int) -> Domain:
        node = self._field(fields, "domain", line)
        name = self._text(node)
        if name not in self.domains:
            raise self.source.error(f"there is no domain {name[:40]!r}", node.line)
        return self.domains[name]

    def _initial(self, fields: Mapping[str, Node], domain: Domain) -> Label | None:
        node = fields.get("initial_value")
        if node is None or node.empty:
            return None
        value = scalar(self.source, node)
        try:
            return domain.values[domain.index[str(value)]]
        except KeyError:
            raise self.source.error(f"initial value {str(value)[:40]!r} is not in the domain", node.line) from None

    def _check_keys(self, fields: Mapping[str, Node], known: set[str]) -> None:
        for key, node in fields.items():
            if key not in known:
                raise self.source.error(f"{key[:40]!r} is not supported here", node.line)

    def _external(self, name: str, node: Node) -> None:
        fields = self._mapping(node, f"external variable {name[:40]!r}")
        value = self._initial(fields, self._domain_named(fields, node.line))
        if value is None:
            raise self.source.error(f"external variable {name[:40]!r} has no initial value", node.line)
        self.constants[name] = value
        self.inputs[name] = _as_python([value])[0]

    def _constraint(self, name: str, node: Node) -> None:
        fields = self._mapping(node, f"constraint {name[:40]!r}")
        for key in ("source", "partial"):
            if key in fields:
                raise self.source.error(f"{key!r} is refused: it would run code from another file", fields[key].line)
        kind = self._text(self._field(fields, "type", node.line))
        if kind == "intention":
            self._check_keys(fields, {"type", "function", "variables"})
            function = self._field(fields, "function", node.line)
            expression = Expression(self.source, self._text(function), function.line)
            scope = [self.draft.variable(one, function.line) for one in expression.names if one not in self.constants]
            self._tabulate(expression, scope, function.line, name)
        elif kind == "extensional":
            self._check_keys(fields, {"type", "variables", "values", "default"})
            self._extensional(name, fields, node.line)
        else:
            raise self.source.error(f"a constraint is intention or extensional, not {kind[:40]!r}", node.line)

    def _tabulate(self, expression: Expression, scope: list[int], line: int, name: str) -> None:
        shape = self.draft.shape(scope, line)
        self.source.meter.spend(expression.steps, math.prod(shape), line)
        used = [one for one in expression.names if one not in self.constants]
        domains = {one: _as_python(self.draft.domain_of[v].values) for one, v in zip(used, scope, strict=False)}
        if len(used) < len(scope):  # a cost function that does not mention its own variable
            domains = {f"?{v}": _as_python(self.draft.domain_of[v].values) for v in scope}
        constants = {one: self.inputs[one] for one in expression.names if one in self.inputs}
        self.draft.add_factor(scope, self.draft.add_table(expression.evaluate(domains, constants), line), name)

    def _extensional(self, name: str, fields: Mapping[str, Node], line: int) -> None:
        listed = self._field(fields, "variables", line)
        names = [listed] if listed.text is not None else listed.entries or []
        texts = [self._text(one) for one in names]
        scope = [-1 if one in self.constants else self.draft.variable(one, listed.line) for one in texts]
        free = [v for v in scope if v >= 0]
        shape = self.draft.shape(free, listed.line)
        default = np.nan
        if "default" in fields and not fields["default"].empty:
            default = self._cost(fields["default"])
        table = np.full(shape, default)
        values = self._field(fields, "values", line)
        for node in self._mapping(values, "the values").values():
            cost = self._cost(node.key or node)
            for entry in self._text(node).split("|"):
                place = self._place(entry.split(), texts, scope, node)
                if place is not None:
                    table[place] = cost
        if np.isnan(table).any():
            raise self.source.error("it has no default, and not every combination is listed", values.line)
        self.draft.add_factor(free, self.draft.add_table(table, line), name)

    def _cost(self, node: Node) -> float:
        value = scalar(self.source, node)
        if isinstance(value, str):
            try:  # YAML 1.1 takes 1e3 for text
                value = float(value) if re.fullmatch(r"[-+\d.eE]{1,40}", value) else np.nan
            except ValueError:
                value = np.nan
        cost = np.nan if isinstance(value, bool) else float(value)  # an integer beyond 64 bits is one, too
        if np.isnan(cost):
            raise self.source.error(f"a cost was expected, {self._text(node)[:40]!r} found", node.line)
        return cost

    def _place(self, words: list[str], names: list[str], scope: list[int], node: Node) -> tuple[int, ...] | None:
        """The cell of a tuple; None if it has another value for an external variable than it keeps."""
        if len(words) != len(scope):
            raise self.source.error(
                f"a tuple of {len(scope)} values was expected, {' '.join(words)[:40]!r} found", node.line
            )
        place = []
        for word, name, variable in zip(words, names, scope, strict=True):
            if variable < 0:
                if word != str(self.constants[name]):
                    return None
                continue
            try:
                place.append(self.draft.domain_of[variable].index[word])
            except KeyError:
                reason = f"value {word[:40]!r} is not in the domain of {name[:40]!r}"
                raise self.source.error(reason, node.line) from None
        return tuple(place)


def _as_python(labels: Sequence[Label]) -> Sequence[Label]:
    """What an expression sees: YAML's truth values are numbers to it."""
    if isinstance(labels, range):
        return labels
    truths: dict[Label, Label] = {"True": 1, "False": 0}
    return [truths[one] for one in labels] if set(labels) <= set(truths) else list(labels)


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of a pyDCOP file, and notes on what it could not say."""
    domains, of_variable = named_domains(problem, "d")
    for domain, labels in domains.items():
        for label in labels:
            if not str(label) or re.search(r"\s|\|", str(label)):
                variable = problem.names.variable(of_variable.index(domain))
                raise FormatError(
                    f"value {label!r} of variable {variable!r} has a space or '|', which pyDCOP's tuples cannot say"
                )
    return _lines(problem, domains, of_variable), []


def _lines(problem: Problem, domains: Mapping[str, Values], of_variable: Sequence[str]) -> Iterator[str]:
    yield f"name: {_quoted(problem.name)}\nobjective: {'max' if problem.maximize else 'min'}\n\ndomains:"
    yield "\n" if domains else " {}\n"
    for name, labels in domains.items():
        yield f"  {name}:\n    values: [{', '.join(map(_quoted, labels))}]\n"
    yield "\nvariables:\n" if problem.num_variables else "\nvariables: {}\n"
    for i, name in enumerate(of_variable):
        yield f"  {_quoted(problem.names.variable(i))}:\n    domain: {name}\n"
    named = distinct_names(
        [*map(problem.names.factor, range(problem.num_factors)), *["constant"] * bool(problem.constant)]
    )
    yield "\nconstraints:\n" if named else "\nconstraints: {}\n"
    for f in range(problem.num_factors):
        yield f"  {_quoted(named[f])}:\n{_constraint(problem, f)}"
    if problem.constant:
        yield f"  {_quoted(named[-1])}:\n    type: intention\n    function: {problem.constant!r}\n"


def _quoted(value: Label) -> str:
    if not isinstance(value, str):
        return _number(value) if isinstance(value, float) else str(value)
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value) and value.lower() not in (
        *("yes", "no", "on", "off", "true", "false", "null", "y", "n"),  # no text to YAML
    ):
        return value
    if re.fullmatch(r"[A-Za-z0-9_ .|+-]*", value):  # the rule, and far quicker than asking YAML
        return f'"{value}"'
    return yaml.dump(value, default_style='"', allow_unicode=True, width=10**9).strip()


def _number(value: float) -> str:
    if np.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    text = repr(float(value))
    return text if "e" not in text else np.format_float_scientific(value, trim="0", unique=True)


def _constraint(problem: Problem, f: int) -> str:
    scope = problem.scope(f).tolist()
    if not scope:
        value = repr(float(problem.table(f))).replace("inf", "1e999")  # what Python reads as infinite
        return f"    type: intention\n    function: {value}\n"
    default, groups = tuples_by_cost(problem, f)
    names = ", ".join(_quoted(problem.names.variable(v)) for v in scope)
    lines = ["    type: extensional", f"    variables: [{names}]", f"    default: {_number(default)}"]
    lines.append("    values:" if groups else "    values: {}")
    lines += [f"      {_number(cost)}: {_quoted(' | '.join(rows))}" for cost, rows in groups.items()]
    return "\n".join(lines) + "\n"
