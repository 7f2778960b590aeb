"""Distributed local search by its definition, agent by agent, on whole tables: what the kernels are compared with."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dabp.problem import Problem

FORBIDDEN = 10**9
"""What a forbidden combination costs here; above all finite costs of two variables together."""


class SplitMix:
    """The kernels' random numbers (Steele, Lea & Flood 2014)."""

    def __init__(self, seed: int):
        self.state = seed

    def draw(self) -> int:
        """64 bits."""
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """An integer in 0..bound − 1."""
        return ((self.draw() >> 32) * bound) >> 32

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return (self.draw() >> 11) / 2**53


def random_instance(seed: int) -> Problem:
    """Six variables of one to four values, factors of one to three of them, two on the same pair, some forbidden."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 6)
    scopes = [[0], [3], [0, 1], [0, 1], *(rng.permutation(6)[: rng.integers(2, 4)].tolist() for _ in range(5))]
    tables = []
    for scope in scopes:
        table = rng.integers(-3 if seed % 3 == 0 else 0, 40, tuple(sizes[scope])).astype(float)
        if len(scope) > 1:
            table[rng.random(table.shape) < 0.2 * (seed % 2)] = np.inf
        tables.append((tuple(scope), table))
    return Problem.from_tables(sizes, tables)


@dataclass
class Agents:
    """Everybody's view of a problem: factors as (scope, table) with `FORBIDDEN` for inf, and who knows whom."""

    problem: Problem

    def __post_init__(self) -> None:
        self.sizes = self.problem.domain_sizes.tolist()
        self.factors = [
            (tuple(self.problem.scope(f).tolist()), np.where(np.isinf(t := self.problem.table(f)), FORBIDDEN, t))
            for f in range(self.problem.num_factors)
        ]
        self.neighbours: list[list[int]] = [
            sorted({j for scope, _ in self.factors if i in scope for j in scope} - {i}) for i in range(len(self.sizes))
        ]

    def cost(self, x: list[int]) -> float:
        """Of all factors."""
        return float(sum(table[tuple(x[v] for v in scope)] for scope, table in self.factors))

    def ahead(self, gains: list[float], i: int, partner: int = -1) -> bool:
        """Whether i gains something, and more than its neighbours; of equals the first is ahead."""
        others = [j for j in self.neighbours[i] if j != partner]
        return gains[i] > 0 and all((gains[i], -i) > (gains[j], -j) for j in others)


def changed(x: list[int], *changes: tuple[int, int]) -> list[int]:
    """The assignment with other values for some variables."""
    result = list(x)
    for variable, value in changes:
        result[variable] = value
    return result


def mgm2_round(
    agents: Agents, x: list[int], random: SplitMix, offering: float, favor: str, sent: list[int]
) -> list[int]:
    """One cycle of MGM-2 (Maheswaran, Pearce & Tambe 2004); the size of each message is put into `sent`."""
    here, count = agents.cost(x), len(x)
    values, gains, asked, partner = list(x), [0.0] * count, [-1] * count, [-1] * count
    for i in range(count):
        first = random.below(agents.sizes[i])
        for k in range(agents.sizes[i]):
            value = (first + k) % agents.sizes[i]
            gain = here - agents.cost(changed(x, (i, value)))
            if gain > gains[i]:
                values[i], gains[i] = value, gain
        if agents.neighbours[i] and random.uniform() < offering:
            asked[i] = agents.neighbours[i][random.below(len(agents.neighbours[i]))]
        for j in agents.neighbours[i]:  # value, gain, and an offer of two values and a gain for each combination
            sent += [1, 1, 3 * agents.sizes[i] * agents.sizes[j] if asked[i] == j else 0]
        if asked[i] >= 0:
            sent.append(3)  # the answer: two values and a gain
    for j in range(count):
        if asked[j] >= 0:
            continue
        best: tuple[float, int, int, int] = (0.0, -1, 0, 0)
        for i in range(count):
            if asked[i] == j:
                for a, b in itertools.product(range(agents.sizes[i]), range(agents.sizes[j])):
                    gain = here - agents.cost(changed(x, (i, a), (j, b)))
                    if a != x[i] and b != x[j] and gain > best[0]:
                        best = (gain, i, a, b)
        gain, i, a, b = best
        accepted = gain > gains[j]
        if i >= 0 and gain == gains[j]:
            accepted = favor == "coordinated" or (favor == "no" and random.uniform() >= 0.5)
        if i >= 0 and accepted:
            partner[i], values[i], gains[i] = j, a, gain
            partner[j], values[j], gains[j] = i, b, gain
            sent += [1, 1]  # each tells the other whether it may go
    wins = [agents.ahead(gains, i, partner[i]) for i in range(count)]
    return [values[i] if wins[i] and (partner[i] < 0 or wins[partner[i]]) else x[i] for i in range(count)]


class GdbaAgents(Agents):
    """With everybody's own modifiers of its factors, by (agent, factor, combination)."""

    def begin(self, modifier: str, violation: str, scope: str, forbidden: int) -> GdbaAgents:
        """The variant, and what forbidden combinations cost."""
        self.modifier, self.violation, self.mode = modifier, violation, scope
        self.factors = [(names, np.where(table == FORBIDDEN, forbidden, table)) for names, table in self.factors]
        self.modifiers: dict[tuple[int, int, tuple[int, ...]], int] = {}
        return self

    def effective(self, i: int, x: list[int]) -> float:
        """What agent i takes its factors to cost."""
        total = 0.0
        for f, (scope, table) in enumerate(self.factors):
            if i not in scope:
                continue
            cell = tuple(x[v] for v in scope)
            cost = float(table[cell])
            if len(scope) == 1:
                total += cost
            elif self.modifier == "A":
                total += cost + self.modifiers.get((i, f, cell), 0)
            else:
                total += (cost - min(0.0, float(table.min()))) * self.modifiers.get((i, f, cell), 1)
        return total

    def raise_modifiers(self, i: int, x: list[int]) -> None:
        """Agent i is stuck: its violated factors weigh more."""
        for f, (scope, table) in enumerate(self.factors):
            if i not in scope or len(scope) == 1:
                continue
            now = tuple(x[v] for v in scope)
            cost, own = table[now], scope.index(i)
            if not {"NZ": cost != 0, "NM": cost != table.min(), "MX": cost == table.max()}[self.violation]:
                continue
            for cell in itertools.product(*map(range, table.shape)):
                same_own = cell[own] == now[own]
                same_rest = cell[:own] + cell[own + 1 :] == now[:own] + now[own + 1 :]
                if {"E": same_own and same_rest, "R": same_rest, "C": same_own, "T": True}[self.mode]:
                    start = 1 if self.modifier == "M" else 0
                    self.modifiers[i, f, cell] = self.modifiers.get((i, f, cell), start) + 1

    def round(self, x: list[int], random: SplitMix) -> list[int]:
        """One cycle of GDBA (Okamoto, Zivan & Nahon 2016)."""
        values, gains = list(x), [0.0] * len(x)
        for i in range(len(x)):
            first, here = random.below(self.sizes[i]), self.effective(i, x)
            for k in range(self.sizes[i]):
                value = (first + k) % self.sizes[i]
                gain = here - self.effective(i, changed(x, (i, value)))
                if gain > gains[i]:
                    values[i], gains[i] = value, gain
        for i in range(len(x)):
            if gains[i] == 0 and all(gains[j] == 0 for j in self.neighbours[i]):
                self.raise_modifiers(i, x)
        return [values[i] if self.ahead(gains, i) else x[i] for i in range(len(x))]
