"""Each keyword of toulbar2's files with random parameters: toulbar2's optimum is an optimum of what we read."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dabp.formats import read
from dabp.problem import Problem
from tests.formats.peer import optimal_values
from tests.problems import all_assignments

CASES = int(os.environ.get("GLOBALS_CASES", "8"))
ARITY, SIZE, TOP = 4, 3, 1000
Rng = np.random.Generator


def listed(numbers: object) -> str:
    values = np.asarray(numbers).ravel().tolist()
    return f"{len(values)} {' '.join(map(str, values))}".strip()


def soft(rng: Rng, *metrics: str) -> str:
    return f"{rng.choice(metrics)} {rng.choice([1, 3, TOP])}"


def some(rng: Rng) -> list[int]:
    return sorted(rng.permutation(SIZE)[: rng.integers(1, SIZE)].tolist())


def bounds(rng: Rng, *, feasible: bool = False, weights: bool = False) -> str:
    rows = []
    for value in some(rng):
        low = 0 if feasible else int(rng.integers(0, 2))
        extra = f" {rng.integers(0, 4)} {rng.integers(0, 4)}" if weights else ""
        rows.append(f"{value} {low} {ARITY if feasible else low + int(rng.integers(1, 3))}{extra}")
    return f"{len(rows)} {' '.join(rows)}"


def automaton(rng: Rng, weight: bool) -> str:
    def ends() -> str:
        states = rng.permutation(2)[: rng.integers(1, 3)].tolist()
        return f"{len(states)} " + " ".join(f"{s} {rng.integers(0, 3)}" if weight else str(s) for s in states)

    moves = {(int(rng.integers(2)), symbol): int(rng.integers(2)) for symbol in range(SIZE) for _ in range(2)}
    rows = [f"{a} {s} {b}" + (f" {rng.integers(0, 3)}" if weight else "") for (a, s), b in moves.items()]
    return f"2 {ends()} {ends()} {len(rows)} {' '.join(rows)}"


def grammar(rng: Rng) -> str:
    rules = [f"2 {1 + symbol} {symbol} {rng.integers(0, 3)}" for symbol in range(SIZE)]
    rules += [f"3 0 {rng.integers(0, 4)} {rng.integers(0, 4)} {rng.integers(0, 3)}" for _ in range(3)]
    return f"weight 1 4 {SIZE} 0 {len(rules)} {' '.join(rules)}"


def comparison(rng: Rng, most: int) -> str:
    return f"{rng.choice(['==', '!=', '<', '<=', '>', '>='])} {rng.integers(0, most)}"


def triples(rng: Rng) -> str:
    rows = [(i, v, int(rng.integers(-3, 5))) for i in range(ARITY) for v in range(SIZE) if rng.random() < 0.5]
    return f"{rng.integers(-1, 6)} {len(rows)} " + " ".join(" ".join(map(str, row)) for row in rows)


def packed(rng: Rng) -> str:
    lists = [[f"{v} {rng.integers(-3, 5)}" for v in some(rng)] for _ in range(ARITY)]
    return f"{rng.integers(-1, 6)} " + " ".join(f"{len(own)} {' '.join(own)}" for own in lists)


KEYWORDS: dict[str, Callable[[Rng], str]] = {
    "salldiff": lambda rng: soft(rng, "var", "dec", "decbi"),
    "salldiffdp": lambda rng: soft(rng, "var"),
    "walldiff": lambda rng: soft(rng, "hard", "lin", "quad"),
    "alldiff": lambda rng: f"{listed(some(rng))} 0",
    "gcc": lambda rng: f"{bounds(rng)} 0",
    "sgcc": lambda rng: f"dec {rng.integers(1, 4)} {bounds(rng)}",
    "sgcc var": lambda rng: f"var {rng.integers(1, 4)} {bounds(rng, feasible=True)}",
    "sgcc wdec": lambda rng: f"wdec 1 {bounds(rng, weights=True)}",
    "sgccdp": lambda rng: f"var {rng.integers(1, 4)} {bounds(rng)}",
    "wgcc": lambda rng: f"{soft(rng, 'hard', 'lin', 'quad')} {bounds(rng)}",
    "ssame": lambda rng: f"{rng.integers(1, 5)} 2 2 0 1 2 3",
    "wsame": lambda rng: soft(rng, "hard", "lin", "quad"),
    "wsamegcc": lambda rng: f"{soft(rng, 'hard', 'lin', 'quad')} {bounds(rng)}",
    "samong": lambda rng: f"var {rng.integers(1, 5)} 1 2 {listed(some(rng))}",
    "wamong": lambda rng: f"{soft(rng, 'hard', 'lin', 'quad')} {listed(some(rng))} 1 {rng.integers(1, 4)}",
    "wvaramong": lambda rng: f"hard {rng.choice([3, TOP])} {listed(some(rng))}",
    "wsum": lambda rng: f"{soft(rng, 'hard', 'lin', 'quad')} {comparison(rng, 8)}",
    "wvarsum": lambda rng: f"{soft(rng, 'hard', 'lin', 'quad')} {comparison(rng, 8).split()[0]}",
    "woverlap": lambda rng: f"{soft(rng, 'hard', 'lin', 'quad')} {comparison(rng, 3)}",
    "wdiverse": lambda rng: f"{rng.integers(1, 5)} {' '.join(map(str, rng.integers(0, SIZE, ARITY)))}",
    "sregular": lambda rng: f"var {rng.integers(1, 5)} {automaton(rng, False)}",
    "sregulardp": lambda rng: f"var {rng.integers(1, 5)} {automaton(rng, False)}",
    "wregular": lambda rng: automaton(rng, True),
    "sgrammar": grammar,
    "smaxdp": lambda rng: f"{rng.integers(0, 4)} 3 0 0 {rng.integers(0, 9)} 1 2 {rng.integers(0, 9)} 3 1 2",
    "MST": lambda rng: "",
    "knapsackp": packed,
    "knapsackv": triples,
    "wcsp": lambda rng: (
        f"{rng.integers(0, 3)} {rng.integers(3, 7)} 0 0 n 4 3 3 100 3 3 3 3 "
        f"1 0 0 1 1 {rng.integers(1, 4)} 2 1 2 1 1 0 0 {rng.integers(2, 5)} 2 2 3 0 2 0 1 2 1 2 3"
    ),
}


def optimum_agrees(keyword: str, tmp_path: Path, size: int, texts: list[str]) -> None:
    rng = np.random.default_rng(7)
    paths = [tmp_path / f"{case}.wcsp" for case in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        unary = "".join(
            f"1 {i} 0 {size}\n" + "".join(f"{v} {rng.integers(0, 6)}\n" for v in range(size)) for i in range(ARITY)
        )
        scope = " ".join(map(str, range(ARITY)))
        head = f"p {ARITY} {size} {ARITY + 1} {TOP}\n{f'{size} ' * ARITY}\n"
        path.write_text(f"{head}{ARITY} {scope} -1 {keyword} {text}\n{unary}")
    for path, values in zip(paths, optimal_values(paths), strict=True):
        problem = read(path)
        rows = all_assignments(Problem(problem.domain_sizes[:ARITY]))
        costs = problem.cost(problem.auxiliaries.completed(rows))
        if np.isinf(costs.min()):
            assert values is None, path.read_text()
        else:
            assert isinstance(values, list), (values, path.read_text())
            assert problem.cost(values[:ARITY]) == costs.min(), (values, path.read_text())


@pytest.mark.parametrize("kind", KEYWORDS)
def test_toulbar2_has_the_same_optimum(kind: str, tmp_path: Path) -> None:
    """It reads the same file, with costs of single variables beside the function."""
    rng = np.random.default_rng(1)
    size = ARITY if kind == "MST" else SIZE
    optimum_agrees(kind.split()[0], tmp_path, size, [KEYWORDS[kind](rng) for _ in range(CASES)])


def test_knapsack_of_two_values(tmp_path: Path) -> None:
    """Weights count where a variable is 1."""
    rng = np.random.default_rng(1)
    texts = [f"{rng.integers(1, 9)} {' '.join(map(str, rng.integers(-2, 5, ARITY)))}" for _ in range(CASES)]
    optimum_agrees("knapsack", tmp_path, 2, texts)


def test_knapsack_with_sets_of_which_one_can_be_chosen() -> None:
    """The example of toulbar2's manual by its definition: toulbar2 1.4 itself misses optima of others."""
    problem = read(io.StringIO("p 4 2 1 9\n2 2 2 2\n4 0 1 2 3 -1 knapsackc 10 2 3 4 5 1 2 1 1 2 1\n"), "wcsp")
    for values in all_assignments(problem).tolist():
        allowed = 2 * values[0] + 3 * values[1] + 4 * values[2] + 5 * values[3] >= 10 and values[1] + values[2] <= 1
        assert (problem.cost(values) == 0) == allowed
