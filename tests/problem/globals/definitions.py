"""Random small statements of each global function, with what they cost by a definition of their own in plain Python."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dabp.problem.globals import (
    AllDifferent,
    Bound,
    Cardinality,
    CostBetween,
    Disjunctive,
    GlobalFunction,
    Grammar,
    Linear,
    Overlap,
    Regular,
    Same,
    SpanningTree,
)
from dabp.problem.globals.linear import compared
from dabp.problem.globals.max_of import MaxOf, ranked
from dabp.problem.globals.template import NotAllEqual


class Drawn(NamedTuple):
    """A function, the symbols of each argument's values, and its violation by definition."""

    function: GlobalFunction
    symbols: list[np.ndarray]
    violation: Callable[[Sequence[int]], float]


Rng = np.random.Generator


def sizes(rng: Rng, most: int = 200, least: int = 1) -> list[int]:
    """Domain sizes with at most so many combinations."""
    made = [int(rng.integers(1, 5)) for _ in range(rng.integers(least, 7))]
    while math.prod(made) > most:
        made[int(np.argmax(made))] -= 1
    return made


def symbols(rng: Rng, shape: Sequence[int], most: int = 5) -> list[np.ndarray]:
    """Different symbols for each argument's values."""
    return [rng.permutation(most)[:size] for size in shape]


def price(rng: Rng) -> float:
    return float(rng.choice([math.inf, 1.0, 2.5, 0.1, 0.0]))


def measure(rng: Rng, kind: type[GlobalFunction]) -> str:
    return str(rng.choice(kind.MEASURES))


def all_different(rng: Rng) -> Drawn:
    own = symbols(rng, sizes(rng))
    function = AllDifferent(
        tuple(rng.permutation(5)[: rng.integers(0, 2)].tolist()), price=price(rng), measure=measure(rng, AllDifferent)
    )

    def violation(row: Sequence[int]) -> float:
        total = 0.0
        for symbol, count in Counter(row).items():
            if symbol not in function.excepted and count > 1:
                total += {
                    "pairs": math.comb(count, 2),
                    "variables": count - 1,
                    "squares": (count - 1) ** 2,
                    "values": 1,
                }[function.measure]
        return total

    return Drawn(function, own, violation)


def linear(rng: Rng) -> Drawn:
    own = [rng.integers(-3, 4, size) for size in sizes(rng)]
    low, high = (None if rng.random() < 0.4 else Fraction(int(rng.integers(-6, 9)), 2) for _ in range(2))
    function = Linear(
        low, high, int(rng.integers(1, 3)), bool(rng.random() < 0.2), price=price(rng), measure=measure(rng, Linear)
    )

    def violation(row: Sequence[int]) -> float:
        total = Fraction(sum(int(one) for one in row), function.denominator)
        off = max(Fraction(0), (low - total) if low is not None else 0, (total - high) if high is not None else 0)
        if function.different:
            return float(not off)
        return float({"amount": off, "once": off > 0, "square": off**2}[function.measure])

    return Drawn(function, own, violation)


def bounds(rng: Rng, weights: bool) -> tuple[Bound, ...]:
    made = []
    for symbol in rng.permutation(5)[: rng.integers(1, 4)].tolist():
        low = int(rng.integers(0, 3))
        extra = rng.choice([1.0, 0.5, 2.0], 2).tolist() if weights else []
        made.append(Bound(symbol, low, low + int(rng.integers(0, 3)), *extra))
    return tuple(made)


def bounded(row: Sequence[int], stated: tuple[Bound, ...], name: str) -> float:
    found, count = Counter(row), 0.0
    few = [max(0, bound.low - found[bound.symbol]) for bound in stated]
    many = [max(0, found[bound.symbol] - bound.high) for bound in stated]
    for bound, short, over in zip(stated, few, many, strict=True):
        count += {
            "amount": short * bound.shortage + over * bound.excess,
            "square": (short + over) ** 2,
            "once": short + over > 0,
            "variables": 0,
        }[name]
    return max(sum(few), sum(many)) if name == "variables" else count


def cardinality(rng: Rng) -> Drawn:
    own, name = symbols(rng, sizes(rng)), measure(rng, Cardinality)
    function = Cardinality(bounds(rng, name == "amount"), price=price(rng), measure=name)
    return Drawn(function, own, lambda row: bounded(row, function.bounds, name))


def same(rng: Rng) -> Drawn:
    shape, name = sizes(rng, least=2), measure(rng, Same)
    half = len(shape) // 2
    own = symbols(rng, shape[: 2 * half])
    function = Same(half, bounds(rng, False) if rng.random() < 0.4 else (), price=price(rng), measure=name)

    def violation(row: Sequence[int]) -> float:
        first, second = Counter(row[:half]), Counter(row[half:])
        apart = [abs(first[one] - second[one]) for one in set(row)]
        total = {
            "variables": sum(apart) / 2,
            "amount": sum(apart),
            "square": sum(a * a for a in apart),
            "once": sum(a > 0 for a in apart),
        }[name]
        counted = "amount" if name == "variables" else name
        return total + sum(bounded(part, function.bounds, counted) for part in (row[:half], row[half:]))

    return Drawn(function, own, violation)


def regular(rng: Rng) -> Drawn:
    states, name = int(rng.integers(1, 4)), measure(rng, Regular)

    def weight() -> float:
        return float(rng.choice([0.0, 1.0, 0.5, -0.5])) if name == "weights" else 0.0

    moves = {
        (int(rng.integers(states)), int(rng.integers(4)), int(rng.integers(states))) for _ in range(rng.integers(1, 7))
    }
    cost = 2.0 if name == "weights" else price(rng)
    ends = [tuple((s, weight()) for s in range(states) if rng.random() < 0.6) for _ in range(2)]
    function = Regular(states, *ends, tuple((*move, weight()) for move in sorted(moves)), price=cost, measure=name)
    return Drawn(function, symbols(rng, sizes(rng)), lambda row: _run(function, row))


def _run(function: Regular, row: Sequence[int]) -> float:
    """By Dijkstra's algorithm over states and places; weights are made positive, as every run has as many steps."""
    shift = 1.0 if function.measure == "weights" else 0.0
    waiting = [(weight + shift, 0, state) for state, weight in function.initial]
    heapq.heapify(waiting)
    seen = set()
    final = dict(function.final)
    best = math.inf
    while waiting:
        cost, place, state = heapq.heappop(waiting)
        if (place, state) in seen:
            continue
        seen.add((place, state))
        if place == len(row) and state in final:
            best = min(best, cost + final[state] + shift)
        for start, symbol, end, weight in function.transitions:
            if start != state:
                continue
            if function.measure == "edits":
                heapq.heappush(waiting, (cost + 1, place, end))
            if place == len(row):
                continue
            if row[place] == symbol:
                heapq.heappush(waiting, (cost + weight + shift, place + 1, end))
            elif function.measure in ("changes", "edits"):
                heapq.heappush(waiting, (cost + 1, place + 1, end))
        if function.measure == "edits" and place < len(row):
            heapq.heappush(waiting, (cost + 1, place + 1, state))
    if function.measure == "once":
        return float(math.isinf(best))
    return best - (len(row) + 2) * shift


def grammar(rng: Rng) -> Drawn:
    count, name = int(rng.integers(2, 4)), measure(rng, Grammar)

    def weight() -> float:
        return float(rng.choice([0.0, 1.0, 0.5])) if name == "weights" else 0.0

    cost = 2.0 if name == "weights" else price(rng)
    leaves = {(int(rng.integers(count)), int(rng.integers(4))) for _ in range(rng.integers(1, 5))}
    rules = {tuple(rng.integers(count, size=3).tolist()) for _ in range(rng.integers(1, 7))}
    function = Grammar(count, 0, tuple((*leaf, weight()) for leaf in leaves),
                       tuple((*rule, weight()) for rule in rules), price=cost, measure=name)  # fmt: skip

    def violation(row: Sequence[int]) -> float:
        @cache
        def least(nonterminal: int, i: int, j: int) -> float:
            ways = [math.inf]
            if j == i + 1:
                for own, symbol, w in function.terminals:
                    if own == nonterminal:
                        hit = row[i] == symbol
                        ways.append(w if hit else 1.0 if name == "changes" else math.inf)
            for own, left, right, w in function.productions:
                if own == nonterminal:
                    ways += [w + least(left, i, k) + least(right, k, j) for k in range(i + 1, j)]
            return min(ways)

        found = least(0, 0, len(row))
        return float(math.isinf(found)) if name == "once" else found

    return Drawn(function, symbols(rng, sizes(rng)), violation)


def max_of(rng: Rng) -> Drawn:
    weights = [rng.choice([0.0, 1.0, 2.5, 0.3, -1.0, math.inf], size) for size in sizes(rng)]
    different, own = ranked(weights)
    function = MaxOf(different, price=float(rng.choice([1.0, 2.0])))
    return Drawn(function, own, lambda row: max(0.0, *(different[one] for one in row)))


def overlap(rng: Rng) -> Drawn:
    shape = sizes(rng, least=2)
    half = len(shape) // 2
    own, bound, name = symbols(rng, shape[: 2 * half], 4), int(rng.integers(0, 4)), measure(rng, Linear)
    comparison, cost = str(rng.choice(["<", "<=", "==", "!=", ">=", ">"])), price(rng)
    function = Overlap(compared(comparison, bound, cost, name), price=cost)

    def violation(row: Sequence[int]) -> float:
        count = sum(a == b != 0 for a, b in zip(row[:half], row[half:], strict=True))
        off = {
            "<": max(0, count - bound + 1),
            "<=": max(0, count - bound),
            "==": abs(count - bound),
            "!=": int(count == bound),
            ">=": max(0, bound - count),
            ">": max(0, bound + 1 - count),
        }[comparison]
        return {"amount": off, "once": off > 0, "square": off**2}[name]

    return Drawn(function, own, violation)


def spanning_tree(rng: Rng) -> Drawn:
    count = int(rng.integers(1, 5))
    own = [rng.permutation(np.arange(-1, count))[: rng.integers(1, count + 2)] for _ in range(count)]

    def violation(row: Sequence[int]) -> float:
        roots = [i for i, parent in enumerate(row) if parent == i]
        for i in range(count):
            for _ in range(count):
                i = row[i] if i >= 0 else i
            if i not in roots:
                return 1.0
        return float(len(roots) != 1)

    return Drawn(SpanningTree(price=price(rng)), own, violation)


def disjunctive(rng: Rng) -> Drawn:
    own = symbols(rng, sizes(rng), 7)
    lengths = tuple(rng.integers(0, 4, len(own)).tolist())

    def violation(row: Sequence[int]) -> float:
        tasks = list(zip(row, lengths, strict=True))
        return sum(not (a + p <= b or b + q <= a) for (a, p), (b, q) in itertools.combinations(tasks, 2))

    return Drawn(Disjunctive(lengths, price=price(rng)), own, violation)


def cost_between(rng: Rng) -> Drawn:
    shape = sizes(rng)
    parts = []
    for _ in range(rng.integers(1, 4)):
        axes = tuple(rng.permutation(len(shape))[: rng.integers(1, 3)].tolist())
        own = tuple(shape[axis] for axis in axes)
        costs = rng.choice([0.0, 1.0, 0.1, 2.5, -1.0, math.inf], math.prod(own), p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
        parts.append((axes, own, tuple(costs.tolist())))
    low, high = float(rng.choice([-math.inf, 0.0, 0.1])), float(rng.choice([math.inf, 1.0, 1.1, 2.6]))

    def violation(row: Sequence[int]) -> float:
        total: Any = Fraction(0)
        for axes, own, costs in parts:
            cost = float(np.array(costs).reshape(own)[tuple(row[axis] for axis in axes)])
            if math.isinf(cost):
                return 1.0
            total += Fraction(repr(cost))
        inside = (math.isinf(low) or total >= Fraction(repr(low))) and (
            math.isinf(high) or total < Fraction(repr(high))
        )
        return float(not inside)

    return Drawn(CostBetween(low, high, tuple(parts)), [np.arange(size) for size in shape], violation)


def not_all_equal(rng: Rng) -> Drawn:
    """The function of the template."""
    return Drawn(NotAllEqual(price=price(rng)), symbols(rng, sizes(rng)), lambda row: float(len(set(row)) == 1))


KINDS: dict[str, Callable[[Rng], Drawn]] = {
    function.__name__: function
    for function in (
        all_different,
        linear,
        cardinality,
        same,
        regular,
        grammar,
        max_of,
        overlap,
        spanning_tree,
        disjunctive,
        cost_between,
        not_all_equal,
    )
}
