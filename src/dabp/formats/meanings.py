"""What the functions mean that toulbar2's files name by keyword: global functions of `dabp.problem.globals`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dabp.errors import ProblemError
from dabp.formats.functions import Fields, Scope
from dabp.formats.intensional import PART, NotSupported
from dabp.formats.meter import Line
from dabp.formats.text import Source
from dabp.problem import Problem
from dabp.problem.blocks import Blocks, Building
from dabp.problem.columns import Indices
from dabp.problem.globals import (
    AllDifferent,
    Bound,
    Cardinality,
    CostBetween,
    GlobalFunction,
    Grammar,
    Linear,
    Overlap,
    Posted,
    Regular,
    Same,
    SpanningTree,
)
from dabp.problem.globals.linear import COMPARISONS, compared, hits
from dabp.problem.globals.max_of import MaxOf, ranked
from dabp.problem.globals.posting import onto


class Stated(NamedTuple):
    """A function with the places of its arguments in the scope and the symbols of their values."""

    function: GlobalFunction
    places: Sequence[int]
    symbols: list[Indices]


def stated(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    """What a keyword with these parameters means."""
    try:
        return _MEANINGS[keyword](keyword, fields, scope)
    except ProblemError as error:
        raise NotSupported(str(error)) from None


class Posting:
    """The functions of a file, as they are read."""

    def __init__(self, source: Source):
        self.blocks, self.posted, self._source = Blocks(), list[Posted](), source

    def post(self, keyword: str, fields: Fields, scope: Scope, name: str, line: Line) -> None:
        """Add what a keyword with these parameters means."""
        meter = self._source.meter
        for function, places, symbols in stated(keyword, fields, scope):
            first, hidden = self.blocks.num_factors, len(self.blocks.auxiliary)
            build = Building(self.blocks, name, meter.left, scope.sign < 0, PART)
            variables = tuple(scope.variables[place] for place in places)
            try:
                build.check(0, keyword)
                function.decompose(build, variables, symbols)
            except ProblemError as error:
                raise NotSupported(str(error)) from None
            meter.take_cells(build.taken, line)
            meter.take_factors(self.blocks.num_factors - first, line)
            meter.take_values(sum(self.blocks.auxiliary[hidden:]), line)
            factors = tuple(range(first, self.blocks.num_factors))
            self.posted.append(Posted(function, variables, tuple(symbols), factors, name))

    def onto(self, problem: Problem) -> Problem:
        """The problem with these functions behind its own."""
        try:
            return onto(problem, self.blocks, self.posted)
        except ProblemError as error:
            raise self._source.error(str(error)) from None


def _measured(keyword: str, fields: Fields, known: Mapping[str, str]) -> str:
    if fields["metric"] not in known:
        raise NotSupported(f"its metric is {', '.join(known)}, not {fields['metric'][:40]!r}")
    return known[fields["metric"]]


def _values(scope: Scope) -> list[Indices]:
    """The values of each variable; equal domains are one array."""
    by_size = {size: np.arange(size) for size in set(scope.sizes)}
    return [by_size[size] for size in scope.sizes]


def _all(function: GlobalFunction, scope: Scope, symbols: list[Indices] | None = None) -> list[Stated]:
    return [Stated(function, range(len(scope.sizes)), _values(scope) if symbols is None else symbols)]


_SOFT = {"hard": "once", "lin": "amount", "var": "amount", "dec": "amount", "quad": "square"}


def _all_different(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    if keyword == "alldiff":
        _without_deltas(fields)
        return _all(AllDifferent(tuple(fields["exceptedvalues"])), scope)
    price = scope.price(fields["cost"])
    if keyword.startswith("w"):
        known = {"hard": "values", "lin": "variables", "var": "variables", "quad": "squares"}
    else:
        known = {"var": "variables", "dec": "pairs", "decbi": "pairs", "hard": "pairs"}
        price = np.inf if fields["metric"] == "hard" else price
    return _all(AllDifferent(measure=_measured(keyword, fields, known), price=price), scope)


def _without_deltas(fields: Fields) -> None:
    if fields["deltacosts"]:
        raise NotSupported("costs that a propagation has moved already (deltacosts) are")


def _cardinality(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    bounds, price, measure = _bounds(fields, scope), np.inf, "amount"
    if keyword == "gcc":
        _without_deltas(fields)
    elif keyword == "wgcc":
        price, measure = scope.price(fields["cost"]), _measured(keyword, fields, _SOFT)
    elif keyword != "sgcckp":
        price = scope.price(fields["cost"])
        known = {"var": "variables", "dec": "amount", "wdec": "amount", "hard": "once"}
        measure = _measured(keyword, fields, {**known, "var": "amount"} if keyword == "sgccdp" else known)
        price = np.inf if fields["metric"] == "hard" else 1.0 if fields["metric"] == "wdec" else price
        named = {bound.symbol for bound in bounds}
        covered = all(value in named for size in scope.sizes for value in range(size))
        low, high = sum(bound.low for bound in bounds), sum(bound.high for bound in bounds)
        if measure == "variables" and (low > len(scope.sizes) or (covered and high < len(scope.sizes))):
            price = np.inf  # no change of variables can meet the bounds
    return _all(Cardinality(bounds, price=price, measure=measure), scope)


def _bounds(fields: Fields, scope: Scope) -> tuple[Bound, ...]:
    made = []
    for value, low, high, *weights in fields["bounds"]:
        if low > high:
            raise NotSupported(f"value {value} would have to occur at least {low} times and at most {high}")
        made.append(Bound(value, low, high, *map(scope.price, weights)))
    if len({bound.symbol for bound in made}) < len(made):
        raise NotSupported("it bounds a value twice")
    if any(np.isinf(weight) for bound in made for weight in bound[3:]):
        raise NotSupported("its shortages and excesses have finite weights only")
    return tuple(made)


def _same(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    price, places = scope.price(fields["cost"]), list(range(len(scope.sizes)))
    measure, size = "variables", len(places) // 2
    if keyword == "ssame":
        size = len(fields["vars1"])
        places = [scope.place(one) for one in (*fields["vars1"], *fields["vars2"])]
        if size != len(fields["vars2"]) or len(set(places)) < len(places):
            raise NotSupported("it takes two lists of equally many different variables")
    else:
        measure = _measured(keyword, fields, _SOFT)
    if len(places) != 2 * size:
        raise NotSupported("it takes an even number of variables")
    bounds = _bounds(fields, scope) if keyword == "wsamegcc" else ()
    symbols = [np.arange(scope.sizes[place]) for place in places]
    return [Stated(Same(size, bounds, price=price, measure=measure), places, symbols)]


def _among(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    price, measure = scope.price(fields["cost"]), _measured(keyword, fields, _SOFT)
    symbols = [hits(fields["values"], size) for size in scope.sizes]
    if keyword == "wvaramong":
        symbols[-1] = -np.arange(scope.sizes[-1])
        return _all(Linear(Fraction(0), Fraction(0), price=price, measure="once"), scope, symbols)
    low, high = Fraction(fields["min"]), Fraction(fields["max"])
    return _all(Linear(low, high, price=price, measure=measure), scope, symbols)


def _sum(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    price, measure, comparison = scope.price(fields["cost"]), _measured(keyword, fields, _SOFT), fields["comparator"]
    if comparison not in COMPARISONS:
        raise NotSupported(f"its comparator is one of {', '.join(COMPARISONS)}, not {comparison[:40]!r}")
    symbols = _values(scope)
    if keyword == "woverlap":
        if len(symbols) % 2:
            raise NotSupported("it takes an even number of variables")
        return _all(Overlap(compared(comparison, fields["to"], price, measure), price=price), scope)
    if keyword == "wvarsum":
        symbols[-1] = -symbols[-1]
    return _all(compared(comparison, fields.get("to", 0), price, measure), scope, symbols)


def _diverse(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    pairs = zip(_values(scope), fields["values"], strict=True)
    return _all(Linear(Fraction(fields["distance"])), scope, [(own != v).astype(np.int64) for own, v in pairs])


def _regular(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    weighted = keyword == "wregular"

    def cost(given: float) -> float:
        return scope.cost(given) if weighted else 0.0

    ends = [
        tuple((state, own) for state, given in fields[tag] if (own := cost(given)) < np.inf)
        if weighted
        else tuple((state, 0.0) for state in fields[tag])
        for tag in ("starts", "ends")
    ]
    moves = [(*each[:3], cost(each[-1])) for each in fields["transitions"]]
    kept = tuple(each for each in moves if each[3] < np.inf)
    measure = "weights" if weighted else _measured(keyword, fields, {"var": "changes", "edit": "edits"})
    price = 1.0 if weighted else scope.price(fields["cost"])
    return _all(Regular(fields["nb_states"], ends[0], ends[1], kept, price=price, measure=measure), scope)


def _grammar(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    measure = _measured(keyword, fields, {"var": "changes", "weight": "weights"})
    price = 1.0 if measure == "weights" else scope.price(fields["cost"])
    rules = [
        tuple((*rule[:-1], scope.cost(rule[-1])) for rule in fields[tag] if scope.cost(rule[-1]) < np.inf)
        for tag in ("terminals", "non_terminals")
    ]
    return _all(Grammar(fields["nb_symbols"], fields["start"], *rules, price=price, measure=measure), scope)


def _max(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    weights = [np.full(size, scope.cost(fields["defaultcost"])) for size in scope.sizes]
    for variable, value, cost in fields["tuples"]:
        place = scope.place(variable)
        if not 0 <= value < scope.sizes[place]:
            raise NotSupported(f"value {value} is not in a variable's domain")
        weights[place][value] = scope.cost(cost)
    different, symbols = ranked(weights)
    return _all(MaxOf(different, price=1.0), scope, symbols)


def _tree(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    place = {variable: number for number, variable in enumerate(scope.variables)}
    symbols = [np.array([place.get(value, -1) for value in range(size)], dtype=np.int64) for size in scope.sizes]
    return _all(SpanningTree(), scope, symbols)


def _clique(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    if fields["rhs"] != 1:
        raise NotSupported("only a limit of 1 is")
    for own, size in zip(fields["values"], scope.sizes, strict=True):
        if outside := [value for value in own if not 0 <= value < size]:
            raise NotSupported(f"value {outside[0]} is not in a variable's domain")
    pairs = zip(fields["values"], scope.sizes, strict=True)
    return _all(AllDifferent((0,)), scope, [hits(own, size) for own, size in pairs])


def _knapsack(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    symbols = [np.zeros(size, dtype=np.int64) for size in scope.sizes]
    if keyword == "knapsackv":
        triples = [(scope.place(variable), value, weight) for variable, value, weight in fields["weightedvalues"]]
    elif keyword == "knapsackp":
        triples = [(place, *each) for place, own in enumerate(fields["weightedvalues"]) for each in own]
    else:
        if any(size != 2 for size in scope.sizes):
            raise NotSupported("it takes variables of two values")
        triples = [(place, 1, weight) for place, weight in enumerate(fields["weights"])]
    if sum(abs(weight) for _, _, weight in triples) >= 2**53:
        raise NotSupported("its weights are too large to be added up exactly")
    for place, value, weight in triples:
        if 0 <= value < scope.sizes[place]:
            symbols[place][value] += weight
    made = _all(Linear(Fraction(fields["capacity"])), scope, symbols)
    for group in fields.get("amo", ()):
        places = [scope.place(variable) for variable, _ in group]
        marks = [hits([value], scope.sizes[place]) for place, (_, value) in zip(places, group, strict=True)]
        made.append(Stated(AllDifferent((0,)), places, marks))
    return made


def _cost_between(keyword: str, fields: Fields, scope: Scope) -> list[Stated]:
    return _all(CostBetween(fields["lb"], fields["ub"], fields["parts"]), scope)


_MEANINGS: dict[str, Callable[[str, Fields, Scope], list[Stated]]] = {
    **dict.fromkeys(("alldiff", "salldiff", "salldiffdp", "salldiffkp", "walldiff", "walldifferent"), _all_different),
    **dict.fromkeys(("gcc", "sgcc", "sgccdp", "sgcckp", "wgcc"), _cardinality),
    **dict.fromkeys(("ssame", "wsame", "wsamegcc"), _same),
    **dict.fromkeys(("samong", "samongdp", "wamong", "wvaramong"), _among),
    **dict.fromkeys(("wsum", "wvarsum", "woverlap"), _sum),
    **dict.fromkeys(("wdiverse", "whdiverse", "wtdiverse"), _diverse),
    **dict.fromkeys(("sregular", "sregulardp", "wregular"), _regular),
    **dict.fromkeys(("sgrammar", "sgrammardp"), _grammar),
    **dict.fromkeys(("max", "smaxdp"), _max),
    **dict.fromkeys(("MST", "smstdp"), _tree),
    "clique": _clique,
    **dict.fromkeys(("knapsack", "knapsackc", "knapsackp", "knapsackv"), _knapsack),
    **dict.fromkeys(("wcsp", "cfnconstraint"), _cost_between),
}
