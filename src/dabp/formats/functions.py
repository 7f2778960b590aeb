"""Functions that toulbar2's files name by keyword: their parameters, and what they mean.

A keyword's layout has ``tag:kind`` for each parameter. Kinds are K (a word), C (a cost), N (an integer), V (a
variable), v (a value), several of these together for a tuple; ``*`` before them is a list, ``=`` one entry for each
variable and ``.`` a list for each variable. ``.wcsp`` writes them in a row, with the length before each list; ``.cfn``
has tags and brackets in place of lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dabp.formats.intensional import NotSupported, Words

Fields = dict[str, Any]
Tree = list[Any]
"""Words, and lists of trees."""

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
