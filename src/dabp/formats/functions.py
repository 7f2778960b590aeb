"""Functions that toulbar2's files name by keyword: their parameters, and what they mean.

A keyword's layout has ``tag:kind`` for each parameter. Kinds are K (a word), C (a cost), N (an integer), V (a
variable), v (a value), several of these together for a tuple; ``*`` before them is a list, ``=`` one entry for each
variable and ``.`` a list for each variable. ``.wcsp`` writes them in a row, with the length before each list; ``.cfn``
has tags and brackets in place of lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dabp.errors import ProblemError
from dabp.formats.intensional import PART, NotSupported, Words
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

Fields = dict[str, Any]
Tree = list[Any]
"""Words, and lists of trees."""

Ends = tuple[tuple[int, float], ...]
Moves = tuple[tuple[int, int, int, float], ...]

_AUTOMATON = "nb_states:N starts:*N ends:*N transitions:*NvN"
LAYOUTS: dict[str, str] = {
    **dict.fromkeys(("salldiff", "salldiffdp", "salldiffkp", "walldiff", "walldifferent"), "metric:K cost:C"),
    "alldiff": "exceptedvalues:*v deltacosts:*vC",
    "gcc": "bounds:*vNN deltacosts:*vC",
    **dict.fromkeys(("sgcc", "sgccdp", "sgcckp", "wgcc", "wsamegcc"), "metric:K cost:C bounds:*vNN"),
    "wsame": "metric:K cost:C",
    "ssame": "cost:C vars1:*V vars2:*V",
    **dict.fromkeys(("samong", "samongdp"), "metric:K cost:C min:N max:N values:*v"),
    "wamong": "metric:K cost:C values:*v min:N max:N",
    "wvaramong": "metric:K cost:C values:*v",
    **dict.fromkeys(("wsum", "woverlap"), "metric:K cost:C comparator:K to:N"),
    "wvarsum": "metric:K cost:C comparator:K",
    **dict.fromkeys(("wdiverse", "whdiverse", "wtdiverse"), "distance:N values:=v"),
    **dict.fromkeys(("sregular", "sregulardp"), f"metric:K cost:C {_AUTOMATON}"),
    "wregular": "nb_states:N starts:*NC ends:*NC transitions:*NvNC",
    **dict.fromkeys(("sgrammar", "sgrammardp"), "metric:K cost:C nb_symbols:N nb_values:N start:N"),
    **dict.fromkeys(("max", "smaxdp"), "defaultcost:C tuples:*VvC"),
    **dict.fromkeys(("MST", "smstdp"), ""),
    "clique": "rhs:N values:.v",
    "knapsack": "capacity:N weights:=N",
    "knapsackp": "capacity:N weightedvalues:.vN",
    "knapsackv": "capacity:N weightedvalues:*VvN",
    "knapsackc": "capacity:N weights:=N",
    "wcsp": "",
    "cfnconstraint": "",
}


@dataclass(frozen=True)
class Scope:
    """The variables that a function is about, and what costs of its file mean."""

    variables: Sequence[int]
    sizes: Sequence[int]
    top: float
    """Costs from here on are forbidden."""
    sign: int = 1
    """−1 in a maximisation, whose costs are negative."""

    def place(self, variable: int) -> int:
        """The place of a variable."""
        if variable not in self.variables:
            raise NotSupported(f"variable {variable} is not one of its variables")
        return self.variables.index(variable)

    def cost(self, cost: float) -> float:
        """A cost as in a minimisation, infinite if it is forbidden."""
        own = self.sign * cost if np.isfinite(cost) else np.inf
        return np.inf if own >= self.top else own

    def price(self, cost: float) -> float:
        """The cost of a violation."""
        own = self.cost(cost)
        if own < 0:
            raise NotSupported(f"a violation cannot improve the total, as {cost:g} does")
        return own


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


# ---- parameters ---------------------------------------------------------------------------------


def layout_of(keyword: str, metric: object) -> list[tuple[str, str]]:
    """Tags and kinds of a keyword's parameters; with the metric wdec there are weights behind the bounds."""
    if keyword not in LAYOUTS:
        raise NotSupported("only tables of costs are")
    text = LAYOUTS[keyword]
    if keyword == "sgcc" and metric == "wdec":
        text = text.replace("vNN", "vNNCC")
    return [tuple(part.split(":", 1)) for part in text.split()]  # type: ignore[misc]


def fields_of_words(keyword: str, words: Words, scope: Scope) -> Fields:
    """The parameters as `.wcsp` has them."""
    fields: Fields = {}
    if keyword == "ssame":  # the lengths of both lists come first
        cost, sizes = words.number(), (_count(words), _count(words))
        lists = [[words.integer() for _ in range(size)] for size in sizes]
        return {"cost": cost, "vars1": lists[0], "vars2": lists[1]}
    for tag, _ in layout_of(keyword, None):
        kind = dict(layout_of(keyword, fields.get("metric")))[tag]
        if kind[0] == "*":
            fields[tag] = [_tuple(words, kind[1:]) for _ in range(_count(words))]
        elif kind[0] == "=":
            fields[tag] = [_tuple(words, kind[1:]) for _ in scope.sizes]
        elif kind[0] == ".":
            fields[tag] = [[_tuple(words, kind[1:]) for _ in range(_count(words))] for _ in scope.sizes]
        else:
            fields[tag] = _one(words.word(), kind)
    if keyword in ("sgrammar", "sgrammardp"):
        rules = [_rule(words) for _ in range(_count(words))]
        fields["terminals"] = [rule for rule, last in rules if last]
        fields["non_terminals"] = [rule for rule, last in rules if not last]
    if keyword == "knapsackc":
        fields["amo"] = [[_tuple(words, "Vv") for _ in range(_count(words))] for _ in range(_count(words))]
    if keyword == "wcsp":
        fields.update(_nested(words, scope))
    return fields


def _rule(words: Words) -> tuple[tuple[Any, ...], bool]:
    """A rule of a grammar, and whether it has a terminal; without a weight it weighs nothing."""
    kind = words.integer()
    if not 0 <= kind <= 3:
        raise NotSupported(f"there is no rule of kind {kind} in a grammar")
    parts = tuple(words.integer() for _ in range(3 if kind % 2 else 2))
    return (*parts, words.number() if kind > 1 else 0.0), kind % 2 == 0


def fields_of_tree(keyword: str, tree: Tree, scope: Scope, variable: Callable[[str], int]) -> Fields:
    """The parameters as `.cfn` has them, tags optional."""
    fields: Fields = {}
    rest = iter(tree)
    layout = layout_of(keyword, next((w for w in tree if w == "wdec"), None))
    if keyword in ("sgrammar", "sgrammardp"):
        width = "C" if "weight" in tree else ""
        layout += [("terminals", f"*Nv{width}"), ("non_terminals", f"*NNN{width}")]
    for tag, kind in layout:
        item = next(rest, None)
        if item == tag or (item == "start_symbol" and tag == "start"):
            item = next(rest, None)
        if item is None:
            raise NotSupported("its parameters end early")
        if isinstance(item, list) == (kind[0] not in "*=."):
            raise NotSupported(f"its parameter {tag} is {'one value' if kind[0] not in '*=.' else 'a list'}")
        if not isinstance(item, list):
            fields[tag] = _one(item, kind, variable)
        elif kind[0] == ".":
            fields[tag] = [_tuples(own if isinstance(own, list) else [own], kind[1:], variable) for own in item]
        else:
            fields[tag] = _tuples(item, kind[1:], variable)
        if kind[0] in "=." and len(fields[tag]) != len(scope.sizes):
            raise NotSupported(f"its parameter {tag} has {len(fields[tag])} entries for {len(scope.sizes)} variables")
    if keyword in ("sgrammar", "sgrammardp") and "weight" not in tree:
        for tag in ("terminals", "non_terminals"):
            fields[tag] = [(*rule, 0.0) for rule in fields[tag]]
    if next(rest, None) is not None:
        raise NotSupported("it has too many parameters")
    return fields


def _tuples(tree: Tree, kind: str, variable: Callable[[str], int]) -> list[Any]:
    """Tuples of one kind, in brackets of their own or not."""
    words = list(_flat(tree))
    if len(words) % len(kind):
        raise NotSupported(f"a list of its parameters is not a multiple of {len(kind)} long")
    rows = [words[i : i + len(kind)] for i in range(0, len(words), len(kind))]
    made = [tuple(_one(word, own, variable) for word, own in zip(row, kind, strict=True)) for row in rows]
    return made if len(kind) > 1 else [each[0] for each in made]


def _flat(tree: Tree) -> Iterator[str]:
    for item in tree:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def _count(words: Words) -> int:
    count = words.integer()
    if count < 0:
        raise NotSupported(f"a list has {count} entries")
    return count


def _tuple(words: Words, kind: str) -> Any:
    made = tuple(_one(words.word(), own) for own in kind)
    return made if len(kind) > 1 else made[0]


def _one(word: str, kind: str, variable: Callable[[str], int] | None = None) -> Any:
    if kind == "K":
        return word
    if kind == "V" and variable is not None:
        return variable(word)
    one = Words(iter([word]))
    return one.number() if kind == "C" else one.integer()


def words_of(keyword: str, fields: Fields) -> str:
    """The parameters as `.wcsp` has them."""
    made: list[str] = []
    if keyword == "ssame":
        both = fields["vars1"], fields["vars2"]
        return _shown((fields["cost"], *map(len, both), *both[0], *both[1]))
    for tag, kind in layout_of(keyword, fields.get("metric")):
        value = fields[tag]
        if kind[0] == "*":
            made += [str(len(value)), *(_shown(each) for each in value)]
        elif kind[0] == ".":
            made += [f"{len(own)} {' '.join(map(_shown, own))}".rstrip() for own in value]
        elif kind[0] == "=":
            made += map(_shown, value)
        else:
            made.append(_shown(value))
    if keyword == "sgrammardp":
        rules = [f"2 {_shown(each)}" for each in fields["terminals"]]
        rules += [f"3 {_shown(each)}" for each in fields["non_terminals"]]
        made += [str(len(rules)), *rules]
    return " ".join(one for one in made if one)


def params_of(keyword: str, fields: Fields) -> str:
    """The parameters as `.cfn` has them."""
    made = []
    for tag, kind in layout_of(keyword, fields.get("metric")):
        value = fields[tag]
        if kind[0] == ".":
            shown = "[" + ", ".join("[" + ", ".join(map(_shown, own)) + "]" for own in value) + "]"
        elif kind[0] in "*=":
            shown = "[" + ", ".join(f"[{_shown(each)}]" if len(kind) > 2 else _shown(each) for each in value) + "]"
        else:
            shown = f'"{value}"' if kind == "K" else _shown(value)
        made.append(f'"{tag}": {shown}')
    if keyword == "sgrammardp":
        rules = {tag: ", ".join(f"[{_shown(each)}]" for each in fields[tag]) for tag in ("terminals", "non_terminals")}
        made += [f'"{tag}": [{shown}]' for tag, shown in rules.items()]
    return "{" + ", ".join(made) + "}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_shown, value))
    if isinstance(value, float):
        if np.isinf(value):
            return "inf"
        return str(int(value)) if value == int(value) else np.format_float_positional(value, trim="-")
    return str(value)


# ---- what they mean ---------------------------------------------------------------------------


def _measured(keyword: str, fields: Fields, known: Mapping[str, str]) -> str:
    if fields["metric"] not in known:
        raise NotSupported(f"its metric is {', '.join(known)}, not {fields['metric'][:40]!r}")
    return known[fields["metric"]]


def _values(scope: Scope) -> list[Indices]:
    return [np.arange(size) for size in scope.sizes]


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
    if keyword == "wregular":
        ends = [tuple((s, scope.cost(c)) for s, c in fields[tag]) for tag in ("starts", "ends")]
        moves = tuple((*each[:3], scope.cost(each[3])) for each in fields["transitions"])
        kept = [tuple(each for each in part if each[-1] < np.inf) for part in (*ends, moves)]
        return _all(Regular(*_mentioned(*kept), price=1.0, measure="weights"), scope)
    measure = _measured(keyword, fields, {"var": "changes", "edit": "edits"})
    ends = [tuple((state, 0.0) for state in fields[tag]) for tag in ("starts", "ends")]
    moves = tuple((*each, 0.0) for each in fields["transitions"])
    return _all(Regular(*_mentioned(*ends, moves), price=scope.price(fields["cost"]), measure=measure), scope)


def _mentioned(starts: Ends, ends: Ends, moves: Moves) -> tuple[int, Ends, Ends, Moves]:
    """The states that an automaton mentions, numbered anew: some files have more than they announce."""
    number: dict[int, int] = {}
    for state in (*(s for s, _ in (*starts, *ends)), *(s for move in moves for s in (move[0], move[2]))):
        number.setdefault(state, len(number))
    moved = tuple((number[a], symbol, number[b], weight) for a, symbol, b, weight in moves)
    starts, ends = (tuple((number[s], weight) for s, weight in part) for part in (starts, ends))
    return max(1, len(number)), starts, ends, moved


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


def _nested(words: Words, scope: Scope) -> Fields:
    """A problem in the form of a `.wcsp` file within another, of tables only."""
    low, high = words.number(), words.number()
    words.integer(), words.integer(), words.word()
    count, _, functions, top = words.integer(), words.integer(), words.integer(), words.number()
    if count != len(scope.sizes) or tuple(words.integer() for _ in range(count)) != tuple(scope.sizes):
        raise NotSupported("the problem within it has other variables than it")
    parts = []
    for _ in range(functions):
        arity = words.integer()
        axes = tuple(words.integer() for _ in range(abs(arity)))
        default, listed = words.number(), words.word()
        if arity < 0 or not listed.replace(".0", "").isdigit():
            raise NotSupported("the problem within it has only tables of their own")
        if len(set(axes)) < len(axes) or any(not 0 <= axis < count for axis in axes):
            raise NotSupported("the problem within it has a scope that is none")
        shape = tuple(scope.sizes[axis] for axis in axes)
        if np.prod(shape, dtype=float) > 2**20:
            raise NotSupported("the problem within it has a table of more than 2^20 cells")
        table = np.full(shape, default)
        for _ in range(int(float(listed))):
            place = tuple(words.integer() for _ in axes)
            if any(not 0 <= value < size for value, size in zip(place, shape, strict=True)):
                raise NotSupported("the problem within it has a value outside of its domain")
            table[place] = words.number()
        parts.append((axes, shape, tuple(np.where(table >= top, np.inf, table).ravel().tolist())))
    return between(low, min(high, top), parts)


def between(low: float, high: float, parts: Sequence[tuple[Any, ...]]) -> Fields:
    """Bounds on the sum of some tables: those without variables are part of the bounds."""
    constant = sum(costs[0] for axes, _, costs in parts if not axes)
    if np.isinf(constant):
        low, high, constant = np.inf, -np.inf, 0.0
    bounds = [float(Fraction(repr(b)) - Fraction(repr(constant))) if np.isfinite(b) else b for b in (low, high)]
    return {"lb": bounds[0], "ub": bounds[1], "parts": tuple(part for part in parts if part[0])}


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
