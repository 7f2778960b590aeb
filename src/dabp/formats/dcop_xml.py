"""XCSP 2.1, FRODO's dialect of it and the DABP authors' DCOP files (``.xml``); see docs/formats/xml.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats import xmlbif
from dabp.formats.bounded import below
from dabp.formats.domains import Domain, Values, named_domains, tuples_by_cost
from dabp.formats.draft import Draft
from dabp.formats.numerals import NUMBER, decimal
from dabp.formats.predicates import Predicate
from dabp.formats.text import Source
from dabp.formats.xml_tree import Node, parse
from dabp.problem import Label, Problem

_INFINITE = {"infinity": np.inf, "+infinity": np.inf, "inf": np.inf, "-infinity": -np.inf, "-inf": -np.inf}


def read(source: Source) -> Problem:
    """Parse an XML file of any of the three dialects."""
    root = parse(source)
    if root.tag == "BIF":  # a Bayesian network under the same suffix
        return xmlbif.from_tree(source, root)
    if root.tag != "instance":
        raise source.error(f"the root element is <{root.tag}>, <instance> was expected", root.line)
    if (root.get("format") or "").replace(" ", "").upper().startswith("XCSP3"):
        raise source.error("XCSP3 is not read, only XCSP 2.1 and its dialects are", root.line)
    return _Reader(source, root).problem()


class _Reader:
    """The sections of an instance, in the order they depend on each other."""

    def __init__(self, source: Source, root: Node):
        self.source, self.root = source, root
        self.draft = Draft(source)
        self.domains: dict[str, Domain] = {}
        self.relations: dict[str, Node] = {}
        self.predicates: dict[str, Predicate] = {}
        self.tables: dict[tuple[Any, ...], int] = {}
        self.maximal = np.inf

    def problem(self) -> Problem:
        presentation = self.root.find("presentation")
        name = self.source.stem
        if presentation is not None:
            name = presentation.get("name", name)
            self.draft.maximize = presentation.get("maximize", "false").strip().lower() == "true"
        for node in self._all("domains", "domain"):
            self.domains[self._attribute(node, "name")] = self._domain(node)
        for node in self._all("variables", "variable"):
            self._variable(node)
        for node in self._all("relations", "relation"):
            self.relations[self._attribute(node, "name")] = node
        for kind in ("predicate", "function"):
            for node in self._all(kind + "s", kind):
                self.predicates[self._attribute(node, "name")] = Predicate(self.source, node, node.line)
        if (found := self.root.find("probabilities")) is not None and len(found):
            reason = "<probabilities> is not supported: random variables have no cost"
            raise self.source.error(reason, cast(Node, found).line)
        constraints = self.root.find("constraints")
        if constraints is not None:
            self.maximal = self._number(cast(Node, constraints), "maximalCost", np.inf)
            self.draft.constant = self._number(cast(Node, constraints), "initialCost", 0.0)
        for node in self._all("constraints", "constraint"):
            self._constraint(node)
            node.clear()  # its attributes, as memory goes into tables now
        problem = self.draft.problem(name)
        return problem if problem.maximize else below(problem, self.maximal)

    def _all(self, section: str, tag: str) -> Iterator[Node]:
        for parent in self.root.findall(section):
            for node in cast(Iterator[Node], parent):
                if node.tag != tag:
                    raise self.source.error(f"<{node.tag}> inside <{section}> is not supported", node.line)
                yield node

    def _attribute(self, node: Node, key: str) -> str:
        value = node.get(key)
        if value is None:
            raise self.source.error(f"<{node.tag}> has no {key!r}", node.line)
        return value

    def _number(self, node: Node, key: str, default: float) -> float:
        text = node.get(key)
        return default if text is None else self._cost(text, node.line)

    def _cost(self, text: str, line: int) -> float:
        text = text.strip()
        if text.lower() in _INFINITE:
            return _INFINITE[text.lower()]
        if not NUMBER.fullmatch(text):
            raise self.source.error(f"a cost was expected, {text[:40]!r} found", line)
        return float(text)

    def _domain(self, node: Node) -> Domain:
        declared = self._declared(node)
        words = (node.text or "").split()
        if not words:  # the authors' domains have no values: 1, 2, … are meant
            if declared is None:
                raise self.source.error("a domain has neither values nor nbValues", node.line)
            return self.draft.domain([range(1, declared + 1)], node.line)
        pieces: list[Sequence[Label]] = []
        for word in words:
            span = re.fullmatch(r"([+-]?\d{1,18})\.\.([+-]?\d{1,18})", word)
            pieces.append((_label(word),) if span is None else range(int(span[1]), int(span[2]) + 1))
        found = sum(map(len, pieces))
        if declared is not None and declared != found:
            raise self.source.error(f"a domain of {declared} values has {found}", node.line)
        return self.draft.domain(pieces, node.line)

    def _declared(self, node: Node) -> int | None:
        """The number of values that a domain announces; beyond any limit all numbers are the same."""
        text = node.get("nbValues", "").strip()
        if not text:
            return None
        if not re.fullmatch("[0-9]+", text):
            raise self.source.error(f"nbValues should be a number, {text[:40]!r} found", node.line)
        digits = text.lstrip("0") or "0"
        return int(digits) if len(digits) <= 18 else 10**18

    def _variable(self, node: Node) -> None:
        if node.get("type", "decision").lower() == "random":
            raise self.source.error("random variables are not supported", node.line)
        domain = self._attribute(node, "domain")
        if domain not in self.domains:
            raise self.source.error(f"there is no domain {domain!r}", node.line)
        self.draft.add_variable(self._attribute(node, "name"), self.domains[domain], node.line)

    def _constraint(self, node: Node) -> None:
        scope = [self.draft.variable(name, node.line) for name in self._attribute(node, "scope").split()]
        reference, words = self._attribute(node, "reference"), list[str]()
        if reference in self.predicates and reference not in self.relations:
            found = node.find("parameters")
            if found is None or len(found):
                raise self.source.error("a constraint by predicate needs plain <parameters>", node.line)
            words = (found.text or "").split()
        elif reference.lower().startswith("global") and reference not in self.relations:
            raise self.source.error(f"global constraint {reference!r} is not supported", node.line)
        elif reference not in self.relations:
            raise self.source.error(f"there is no relation {reference!r}", node.line)
        # A table is made once for each combination of domains, parameters and, for predicates, variables.
        key = (reference, *words, *(scope if words else []), *(self.draft.domain_of[v] for v in scope))
        if key not in self.tables:
            shape = self.draft.shape(scope, node.line)
            if reference in self.relations:
                table = self._tabulate(self.relations[reference], scope)
            else:
                predicate = self.predicates[reference]
                self.source.meter.spend(predicate.steps, math.prod(shape), node.line)
                domains = {self.draft.names[v]: self.draft.domain_of[v].values for v in scope}
                table = predicate.evaluate(words, domains, node.line)
                if not predicate.soft:
                    table = np.where(table != 0, 0.0, self.draft.forbidden)
            self.tables[key] = self.draft.add_table(self._capped(table), node.line)
        self.draft.add_factor(scope, self.tables[key], node.get("name"))

    def _capped(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.draft.maximize:
            costs[costs >= self.maximal] = np.inf
        return costs

    def _tabulate(self, relation: Node, scope: list[int]) -> NDArray[np.float64]:
        line, semantics = relation.line, relation.get("semantics", "soft")
        arity = relation.get("arity", str(len(scope))).strip()
        if arity != str(len(scope)):
            raise self.source.error(f"a relation of arity {arity[:20]} is used on {len(scope)} variables", line)
        if semantics == "soft":
            default, listed = self._number(relation, "defaultCost", np.nan), np.nan
        elif semantics == "supports":
            default, listed = self.draft.forbidden, 0.0
        elif semantics == "conflicts":
            default, listed = 0.0, self.draft.forbidden
        else:
            raise self.source.error(f"semantics {semantics!r} is not supported", line)
        table = np.full(self.draft.shape(scope, line), default)
        if text := (relation.text or "").strip():
            self._fill(table, text, [self.draft.domain_of[v].index for v in scope], listed, relation)
        if np.isnan(table).any():
            raise self.source.error("a soft relation has no defaultCost, or a tuple has no cost", line)
        return table

    def _fill(
        self, table: NDArray[np.float64], text: str, domains: list[Mapping[str, int]], cost: float, relation: Node
    ) -> None:
        """``cost: values | values | cost: values …``; a cost holds until the next one."""
        line, semantics = relation.line, relation.get("semantics", "soft")
        for entry in text.split("|"):
            head, colon, tail = entry.rpartition(":")
            if colon:
                if semantics != "soft":
                    raise self.source.error(f"a relation of semantics {semantics!r} has costs", line)
                cost = self._cost(head, line)
            values = tail.split()
            if len(values) != len(domains):
                found = " ".join(values)[:40]
                raise self.source.error(f"a tuple of {len(domains)} values was expected, {found!r} found", line)
            try:
                table[tuple(index[value] for index, value in zip(domains, values, strict=True))] = cost
            except KeyError as error:
                raise self.source.error(f"value {error.args[0][:40]!r} is not in its variable's domain", line) from None


def _label(word: str) -> Label:
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", word):
        return int(word)
    if NUMBER.fullmatch(word) and str(float(word)) == word:
        return float(word)
    return word


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of an XCSP 2.1 file in FRODO's dialect, and notes on what it could not say."""
    notes: list[str] = []
    names = [_word(name) for name in problem.names.variables]
    if len(set(names)) != len(names):
        raise FormatError("two variable names differ only in white space, which XML scopes cannot say")
    if tuple(names) != problem.names.variables:
        notes.append("white space in variable names is written as _")
    domains, of_variable = named_domains(problem, "D")
    for domain, labels in domains.items():
        if any(re.search(r"\s|\||:|^$|\.\.", str(label)) for label in labels):
            variable = names[of_variable.index(domain)]
            raise FormatError(
                f"a value of variable {variable!r} has a space, '|', ':' or '..', which XML tuples cannot say"
            )
    return _lines(problem, names, domains, of_variable), notes


def _word(name: str) -> str:
    return re.sub(r"\s+", "_", name) or "_"


def _lines(
    problem: Problem, names: Sequence[str], domains: Mapping[str, Values], of_variable: Sequence[str]
) -> Iterator[str]:
    arity = int(problem.arities.max(initial=0))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<instance>\n'
    yield (
        f'<presentation name={quoteattr(problem.name)} maxConstraintArity="{arity}" '
        f'maximize="{str(problem.maximize).lower()}" format="XCSP 2.1_FRODO"/>\n'
    )
    yield f'<domains nbDomains="{len(domains)}">\n'
    for name, labels in domains.items():
        yield f'<domain name="{name}" nbValues="{len(labels)}">{escape(_values(labels))}</domain>\n'
    yield f'</domains>\n<variables nbVariables="{problem.num_variables}">\n'
    for i, name in enumerate(names):
        yield f'<variable name={quoteattr(name)} domain="{of_variable[i]}"/>\n'
    relations: dict[tuple[Any, ...], str] = {}
    for f in range(problem.num_factors):
        key = (int(problem.factor_table[f]), *(of_variable[v] for v in problem.scope(f).tolist()))
        relations.setdefault(key, f"R{f}")
    yield f'</variables>\n<relations nbRelations="{len(relations)}">\n'
    for name in relations.values():
        yield _relation(problem, int(name[1:]), name)
    initial = f' initialCost="{_cost(problem.constant)}"' if problem.constant else ""
    yield f'</relations>\n<constraints nbConstraints="{problem.num_factors}"{initial}>\n'
    for f in range(problem.num_factors):
        scope = problem.scope(f).tolist()
        key = (int(problem.factor_table[f]), *(of_variable[v] for v in scope))
        yield (
            f'<constraint name={quoteattr(problem.names.factor(f))} arity="{len(scope)}" '
            f'scope={quoteattr(" ".join(names[v] for v in scope))} reference="{relations[key]}"/>\n'
        )
    yield "</constraints>\n</instance>\n"


def _values(labels: Values) -> str:
    if isinstance(labels, range) and len(labels) > 1 and -(10**18) < labels[0] <= labels[-1] < 10**18:
        return f"{labels[0]}..{labels[-1]}"
    return " ".join(map(str, labels))


def _cost(value: float) -> str:
    if np.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return decimal(value)


def _relation(problem: Problem, f: int, name: str) -> str:
    default, groups = tuples_by_cost(problem, f)
    tuples = "|".join(f"{_cost(cost)}:{escape('|'.join(rows))}" for cost, rows in groups.items())
    return (
        f'<relation name="{name}" arity="{len(problem.scope(f))}" nbTuples="{sum(map(len, groups.values()))}" '
        f'semantics="soft" defaultCost="{_cost(default)}">{tuples}</relation>\n'
    )
