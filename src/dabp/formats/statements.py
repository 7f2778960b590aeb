"""Global functions of a problem as toulbar2's files name them, in place of the tables that they are decomposed into."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dabp.formats.functions import Fields, layout_of
from dabp.formats.numerals import MOST_EXACT
from dabp.problem import Problem
from dabp.problem.globals import (
    AllDifferent,
    Cardinality,
    Grammar,
    Linear,
    Overlap,
    Posted,
    Regular,
    Same,
    SpanningTree,
    Sum,
)
from dabp.problem.globals.max_of import MaxOf
from dabp.problem.globals.posting import without


class Written(NamedTuple):
    """A function by keyword: its variables, its parameters and its name."""

    keyword: str
    scope: tuple[int, ...]
    fields: Fields
    name: str


def apart(problem: Problem, allowed: Callable[[float], bool]) -> tuple[Problem, list[Written]]:
    """The problem without the functions that have a keyword and costs that are allowed, and these functions."""
    written: list[Written] = []
    gone: list[Posted] = []
    for posted in problem.auxiliaries.statements:
        made = _keywords(posted) if posted.factors and min(posted.scope, default=-1) >= 0 else None
        if made is None:
            continue
        ours = [Written(keyword, posted.scope, fields, posted.name) for keyword, fields in made]
        if all(allowed(cost) for one in ours for cost in costs_of(one)):
            gone.append(posted)
            written += ours
    return (without(problem, gone), written) if gone else (problem, [])


def auxiliary_notes(problem: Problem) -> list[str]:
    """A note on the auxiliary variables that are written, if there are any."""
    names = problem.names.variables[problem.auxiliaries.num_visible :]
    if not names:
        return []
    span = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    return [f"the last {len(names)} variables ({span}) are auxiliary: they follow from the others"]


def costs_of(one: Written) -> list[float]:
    """All costs among its parameters."""
    found: list[float] = []

    def note(cost: float) -> float:
        found.append(cost)
        return cost

    signed(one, note)
    return found


def signed(one: Written, change: Callable[[float], float]) -> Written:
    """The same with all its costs changed."""
    fields = dict(one.fields)
    layout = layout_of(one.keyword, fields.get("metric"))
    if one.keyword == "sgrammardp":
        layout += [("terminals", "*NvC"), ("non_terminals", "*NNNC")]
    for tag, kind in layout:
        if kind == "C":
            fields[tag] = change(fields[tag])
        elif "C" in kind:
            kinds = kind.lstrip("*=.")
            fields[tag] = [
                tuple(change(v) if k == "C" else v for k, v in zip(kinds, each, strict=True)) for each in fields[tag]
            ]
    return one._replace(fields=fields)


Made = list[tuple[str, Fields]] | None


def _keywords(posted: Posted) -> Made:
    """The keywords and parameters that mean the same, None for none."""
    plain = all(np.array_equal(own, np.arange(len(own))) for own in posted.symbols)
    function = posted.function
    if isinstance(function, Linear):
        return _linear(posted, function, plain)
    if isinstance(function, MaxOf):
        return _max(posted, function)
    if isinstance(function, AllDifferent):
        return _all_different(posted, function, plain)
    if isinstance(function, SpanningTree):
        return _tree(posted) if function.hard else None
    if not plain:
        return None
    if isinstance(function, Cardinality):
        return _cardinality(posted, function)
    if isinstance(function, Same):
        return _same(posted, function)
    if isinstance(function, Regular):
        return _regular(function)
    if isinstance(function, Grammar):
        return _grammar(posted, function)
    if isinstance(function, Overlap):
        comparison = _comparison(function.number)
        if comparison is None:
            return None
        return [("woverlap", {**_metric(function.number.measure, function.price), **comparison})]
    return None


_METRICS = {"amount": "lin", "square": "quad", "once": "hard"}


def _metric(measure: str, price: float) -> Fields:
    return {"metric": "hard" if price == math.inf else _METRICS[measure], "cost": price}


def _all_different(posted: Posted, function: AllDifferent, plain: bool) -> Made:
    if function.hard and plain:
        return [("alldiff", {"exceptedvalues": list(function.excepted), "deltacosts": []})]
    if function.hard and function.excepted == (0,) and all(own.max(initial=0) <= 1 for own in posted.symbols):
        return [_knapsack(posted, [-own for own in posted.symbols], -1)]
    if function.excepted or not plain:
        return None
    keyword, metric = {
        "pairs": ("salldiff", "dec"),
        "variables": ("salldiff", "var"),
        "squares": ("walldiff", "quad"),
        "values": ("walldiff", "hard"),
    }[function.measure]
    return [(keyword, {"metric": metric, "cost": function.price})]


def _knapsacks(posted: Posted, one: Sum) -> Made:
    """A hard sum within bounds as a sum of at least the least, and one of at most the most."""
    judge, made = one.judge, list[tuple[str, Fields]]()
    if sum(float(np.abs(own).sum()) for own in one.terms) >= MOST_EXACT:
        return None  # no reader takes such weights
    least, most = sum(int(own.min()) for own in one.terms), sum(int(own.max()) for own in one.terms)
    if judge.first is not None:
        made.append(_knapsack(posted, list(one.terms), min(judge.first, most + 1)))
    if judge.last is not None:
        made.append(_knapsack(posted, [-own for own in one.terms], -max(judge.last, least - 1)))
    return made


def _knapsack(posted: Posted, weights: list[Any], capacity: int) -> tuple[str, Fields]:
    triples = [
        (variable, value, weight)
        for variable, own in zip(posted.scope, weights, strict=True)
        for value, weight in enumerate(own.tolist())
        if weight
    ]
    return "knapsackv", {"capacity": capacity, "weightedvalues": triples}


def _linear(posted: Posted, function: Linear, plain: bool) -> Made:
    symbols, judge = list(posted.symbols), function.judge
    if function.hard and not function.different:
        return _knapsacks(posted, Sum(symbols, judge))
    if function.denominator != 1:
        return None
    metric, comparison = _metric(function.measure, function.price), _comparison(function)
    if plain and comparison:
        return [("wsum", {**metric, **comparison})]
    longest = max(symbols, key=len, default=np.zeros(0, dtype=np.int64))
    counts = all(np.array_equal(own, longest[: len(own)]) and set(own.tolist()) <= {0, 1} for own in symbols)
    if not counts or function.different:
        return None
    low, high = (0 if judge.first is None else judge.first), (len(symbols) if judge.last is None else judge.last)
    if (max(low, 0) != (judge.low or low) and judge.low is not None) or (judge.high is not None and high != judge.high):
        return None
    if high < 0:
        return None  # toulbar2 does not count that as violated
    return [("wamong", {**metric, "values": np.flatnonzero(longest).tolist(), "min": max(low, 0), "max": high})]


def _comparison(function: Linear) -> Fields | None:
    """A comparator and a whole number, if the bounds are that."""
    low, high = function.low, function.high
    if any(one is not None and one.denominator != 1 for one in (low, high)):
        return None
    if function.different:
        return {"comparator": "!=", "to": int(low)} if low is not None and low == high else None
    if low is not None and low == high:
        return {"comparator": "==", "to": int(low)}
    if low is None and high is not None:
        return {"comparator": "<=", "to": int(high)}
    return {"comparator": ">=", "to": int(low)} if low is not None and high is None else None


def _cardinality(posted: Posted, function: Cardinality) -> Made:
    bounds = [(bound.symbol, bound.low, bound.high) for bound in function.bounds]
    if any(low < 0 or symbol < 0 for symbol, low, _ in bounds):
        return None
    if function.hard:
        known = max(map(len, posted.symbols), default=0)
        if sum(high for _, _, high in bounds) >= len(posted.scope) and all(symbol < known for symbol, _, _ in bounds):
            return [("gcc", {"bounds": bounds, "deltacosts": []})]
        made = [_knapsacks(posted, one) for one in function.sums(posted.symbols) or ()]  # toulbar2's gcc is wrong there
        return None if None in made else [each for own in made for each in own or ()]
    if function.measure == "variables":
        low, high = sum(low for _, low, _ in bounds), sum(high for _, _, high in bounds)
        if not low <= len(posted.scope) <= high:  # toulbar2 takes these bounds for a contradiction
            return None
        return [("sgcc", {"metric": "var", "cost": function.price, "bounds": bounds})]
    if function.measure == "amount" and any(bound[3:] != (1.0, 1.0) for bound in function.bounds):
        weighted = [(*bound[:3], *(weight * function.price for weight in bound[3:])) for bound in function.bounds]
        return [("sgcc", {"metric": "wdec", "cost": function.price, "bounds": weighted})]
    return [("wgcc", {**_metric(function.measure, function.price), "bounds": bounds})]


def _same(posted: Posted, function: Same) -> Made:
    if function.measure == "variables" and not function.hard:
        half = function.size
        lists = {"vars1": list(posted.scope[:half]), "vars2": list(posted.scope[half:])}
        return None if function.bounds else [("ssame", {"cost": function.price, **lists})]
    metric = {"metric": "hard", "cost": math.inf} if function.hard else _metric(function.measure, function.price)
    bounds = [bound[:3] for bound in function.bounds]
    return [("wsamegcc", {**metric, "bounds": bounds})] if bounds else [("wsame", metric)]


def _regular(function: Regular) -> Made:
    automaton = {"nb_states": function.states, "transitions": list(function.transitions)}
    if not function.initial or not function.final:
        return None
    if function.measure == "weights" or (function.measure == "once" and function.hard):
        scale = function.price if function.measure == "weights" else 0.0
        ends = {"starts": function.initial, "ends": function.final}
        scaled = {tag: [(*each[:-1], each[-1] * scale) for each in rows] for tag, rows in ends.items()}
        moves = [(*each[:-1], each[-1] * scale) for each in function.transitions]
        return [("wregular", {**automaton, **scaled, "transitions": moves})]
    if function.measure != "changes":  # of edits each program has its own idea
        return None
    soft: Fields = {"metric": "var", "cost": function.price, "nb_states": function.states}
    soft["starts"], soft["ends"] = ([state for state, _ in part] for part in (function.initial, function.final))
    return [("sregular", {**soft, "transitions": [each[:-1] for each in function.transitions]})]


def _grammar(posted: Posted, function: Grammar) -> Made:
    if function.measure == "changes" or (function.measure == "once" and not function.hard):
        return None
    leaves = {symbol: nonterminal for nonterminal, symbol, _ in function.terminals}
    inner = {rule[0] for rule in function.productions}
    values = range(max(map(len, posted.symbols), default=0))
    if len(leaves) < len(function.terminals) or inner & set(leaves.values()) or function.start not in inner:
        return None  # toulbar2 wants one nonterminal for each value, and none with rules of both kinds
    if any(value not in leaves for value in values):
        return None
    scale = function.price if function.measure == "weights" else 0.0
    rules = {"terminals": function.terminals, "non_terminals": function.productions}
    return [
        (
            "sgrammardp",
            {
                "metric": "weight",
                "cost": 1.0,
                "nb_symbols": function.nonterminals,
                "nb_values": max(map(len, posted.symbols), default=1),
                "start": function.start,
                **{tag: [(*each[:-1], each[-1] * scale) for each in rows] for tag, rows in rules.items()},
            },
        )
    ]


def _max(posted: Posted, function: MaxOf) -> Made:
    if function.hard:
        return None
    tuples = [
        (variable, value, max(0.0, function.weights[symbol]) * function.price)
        for variable, own in zip(posted.scope, posted.symbols, strict=True)
        for value, symbol in enumerate(own.tolist())
    ]
    return [("smaxdp", {"defaultcost": 0.0, "tuples": tuples})]


def _tree(posted: Posted) -> Made:
    place = {variable: number for number, variable in enumerate(posted.scope)}
    same = all(
        own.tolist() == [place.get(value, -1) for value in range(len(own))] and -1 not in own.tolist()
        for own in posted.symbols
    )
    return [("MST", {})] if same else None
