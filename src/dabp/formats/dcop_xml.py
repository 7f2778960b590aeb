"""XCSP 2.1, FRODO's dialect of it and the DABP authors' DCOP files (``.xml``); see docs/formats/xml.md."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats import xmlbif
from dabp.formats.bounded import below
from dabp.formats.domains import Domain, Values, named_domains
from dabp.formats.draft import Draft
from dabp.formats.numerals import NUMBER
from dabp.formats.predicates import Predicate
from dabp.formats.text import Source
from dabp.formats.xml_tree import Node, parse
from dabp.problem import Label, Problem

_INFINITE = {"infinity": np.inf, "+infinity": np.inf, "inf": np.inf, "-infinity": -np.inf, "-inf": -np.inf}
_LARGEST = 10**18  # integers with more digits are not numbers of a range


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
        """Everything, in order."""
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
        for section in ("probabilities",):
            if (found := self.root.find(section)) is not None and len(found):
                raise self.source.error(f"<{section}> is not supported: random variables have no cost", found.line)  # type: ignore[attr-defined]
        constraints = self.root.find("constraints")
        if constraints is not None:
            self.maximal = self._number(constraints, "maximalCost", np.inf)
            self.draft.constant = self._number(constraints, "initialCost", 0.0)
        for node in self._all("constraints", "constraint"):
            self._constraint(node)
            node.clear()  # its attributes, as memory goes into tables now
        problem = self.draft.problem(name)
        return problem if problem.maximize else below(problem, self.maximal)

    def _all(self, section: str, tag: str) -> Iterator[Node]:
        for parent in self.root.findall(section):
            for node in parent:
                if node.tag != tag:
                    raise self.source.error(f"<{node.tag}> inside <{section}> is not supported", node.line)  # type: ignore[attr-defined]
                yield node  # type: ignore[misc]

    def _attribute(self, node: Node, key: str) -> str:
        value = node.get(key)
        if value is None:
            raise self.source.error(f"<{node.tag}> has no {key!r}", node.line)
        return value

    def _number(self, node: Element, key: str, default: float) -> float:
        text = node.get(key)
        return default if text is None else self._cost(text, node.line)  # type: ignore[attr-defined]

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
        reference = self._attribute(node, "reference")
        name = node.get("name")
        if reference in self.relations:
            relation = self.relations[reference]
            table = self._shared(("relation", reference), scope, node.line, lambda: self._tabulate(relation, scope))
        elif reference in self.predicates:
            words = self._parameters(node)
            evaluate = self.predicates[reference].evaluator(words, node.get("scope", "").split(), node.line)
            domains = [self.draft.domain_of(v).values for v in scope]
            table = self._shared(
                ("predicate", reference, *words, *scope),
                scope,
                node.line,
                lambda: self._valued(evaluate(domains, self._worked(scope, reference, node.line)), reference),
            )
        elif reference.lower().startswith("global"):
            raise self.source.error(f"global constraint {reference!r} is not supported", node.line)
        else:
            raise self.source.error(f"there is no relation {reference!r}", node.line)
        self.draft.add_factor(scope, table, name)

    def _worked(self, scope: list[int], reference: str, line: int) -> tuple[int, ...]:
        shape = self.draft.shape(scope, line)
        self.source.meter.spend(self.predicates[reference].steps, math.prod(shape), line)
        return shape

    def _parameters(self, node: Node) -> list[str]:
        found = node.find("parameters")
        if found is None or len(found):
            raise self.source.error("a constraint by predicate needs plain <parameters>", node.line)
        return (found.text or "").split()

    def _valued(self, values: NDArray[np.float64], reference: str) -> NDArray[np.float64]:
        """Costs of a function as they are; a predicate forbids what is false."""
        if self.predicates[reference].soft:
            return self._capped(values)
        return np.where(values != 0, 0.0, self.draft.forbidden)

    def _shared(
        self, key: tuple[Any, ...], scope: list[int], line: int, make: Callable[[], NDArray[np.float64]]
    ) -> int:
        """A relation's table, made once for each combination of domains it is used with."""
        key = (*key, *map(self.draft.domain_of, scope))
        if key not in self.tables:
            self.draft.shape(scope, line)
            self.tables[key] = self.draft.add_table(make(), line)
        return self.tables[key]

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
        shape = self.draft.shape(scope, line)
        table = np.full(shape, default)
        text = (relation.text or "").strip()
        if text:
            self._fill(table, text, scope, listed, semantics, line)
        if np.isnan(table).any():
            raise self.source.error("a soft relation has no defaultCost, or a tuple has no cost", line)
        return self._capped(table)

    def _fill(
        self, table: NDArray[np.float64], text: str, scope: list[int], listed: float, semantics: str, line: int
    ) -> None:
        """``cost: values | values | cost: values …``; a cost holds until the next one."""
        domains = [self.draft.domain_of(v).index for v in scope]
        cost = listed
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
    if isinstance(labels, range) and len(labels) > 1 and -_LARGEST < labels[0] <= labels[-1] < _LARGEST:
        return f"{labels[0]}..{labels[-1]}"
    return " ".join(map(str, labels))


def _cost(value: float) -> str:
    if np.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def _relation(problem: Problem, f: int, name: str) -> str:
    """One relation: tuples grouped by cost, the commonest cost as the default."""
    table, scope = problem.table(f), problem.scope(f).tolist()
    labels = [[escape(str(one)) for one in problem.names.labels(v)] for v in scope]
    flat = table.ravel()
    costs, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
    common = int(np.argmax(counts))
    groups = []
    by_cost = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
    for c in range(len(costs)):
        if c == common:
            continue
        places = np.unravel_index(by_cost[c], table.shape)
        rows = zip(*(axis.tolist() for axis in places), strict=True)
        tuples = "|".join(" ".join(labels[a][v] for a, v in enumerate(row)) for row in rows)
        groups.append(f"{_cost(float(costs[c]))}:{tuples}")
    listed = int(counts.sum() - counts[common])
    return (
        f'<relation name="{name}" arity="{len(scope)}" nbTuples="{listed}" semantics="soft" '
        f'defaultCost="{_cost(float(costs[common]))}">{"|".join(groups)}</relation>\n'
    )
