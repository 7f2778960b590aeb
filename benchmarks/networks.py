"""Real Bayesian networks: what pgmpy's reader finds in them, and their most probable explanations calculated twice.

``python -m benchmarks.networks`` needs pgmpy, whose package carries the networks (bnlearn's repository). For each it

- reads the file with our reader and with pgmpy's, and compares every probability of every variable by name;
- observes a tenth of the variables, at values that a sample of the network has;
- finds the most probable explanation with `dabp.solve`, and a second time by variable elimination written here, on the
  tables that pgmpy read, of which nothing but NumPy is used; they must agree to 1e-9 of the logarithm.

What is skipped is told: files that pgmpy takes longer than ``--reading`` seconds for, and networks whose elimination
would make a table of more than 2^24 cells. Each network is a process of its own.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dabp
from dabp.formats import read
from dabp.problem import Problem

LARGEST = 2**24

Factor = tuple[list[str], NDArray[np.float64]]


def real_networks() -> list[Path]:
    """The networks that pgmpy carries, the smallest files first."""
    import pgmpy

    folder = Path(pgmpy.__file__).parent / "utils" / "example_models"
    return sorted(folder.glob("*.bif.gz"), key=lambda path: path.stat().st_size)


def read_by_pgmpy(path: Path) -> tuple[dict[str, list[str]], list[Factor]]:
    """States by variable, and a table of each distribution whose axes are named."""
    from pgmpy.readwrite import BIFReader

    model = BIFReader(string=gzip.decompress(path.read_bytes()).decode()).get_model()
    states: dict[str, list[str]] = {}
    factors = []
    for table in model.get_cpds():
        factor = table.to_factor()
        states |= {name: list(factor.state_names[name]) for name in factor.variables}
        factors.append((list(factor.variables), np.asarray(factor.values, dtype=np.float64)))
    return states, factors


def same_numbers(problem: Problem, states: dict[str, list[str]], factors: list[Factor]) -> int:
    """How many probabilities were compared; raises if a name or a number differs."""
    if set(problem.names.variables) != set(states):
        raise ValueError("other variables")
    ours = {frozenset(problem.names.variable(v) for v in f.scope): f for f in problem.factors}
    compared = 0
    for names, table in factors:
        factor = ours[frozenset(names)]
        order = [problem.names.variable(v) for v in factor.scope]
        axes = [names.index(name) for name in order]
        places = [
            [states[name].index(str(label)) for label in problem.names.labels(v)]
            for v, name in zip(factor.scope, order, strict=True)
        ]
        theirs = table.transpose(axes)[np.ix_(*places)]
        np.testing.assert_allclose(np.exp(-factor.table), theirs, rtol=1e-12, atol=1e-300)
        compared += table.size
    return compared


def observed(states: dict[str, list[str]], factors: list[Factor], seed: int) -> dict[str, str]:
    """A tenth of the variables at values drawn from the network, so that they are possible together."""
    rng = np.random.default_rng(seed)
    sample: dict[str, int] = {}
    waiting = list(factors)
    while waiting:
        for factor in waiting:
            names, table = factor
            if sum(name not in sample for name in names) == 1:
                place = tuple(sample.get(name, slice(None)) for name in names)
                chances = np.clip(np.asarray(table[place], dtype=np.float64), 0, None)
                child = next(name for name in names if name not in sample)
                sample[child] = int(rng.choice(len(chances), p=chances / chances.sum()))
                waiting.remove(factor)
                break
        else:
            raise ValueError("this is no network without cycles")
    chosen = rng.permutation(sorted(sample))[: max(1, len(sample) // 10)]
    return {str(name): states[str(name)][sample[str(name)]] for name in chosen}


def eliminated(states: dict[str, list[str]], factors: list[Factor], evidence: dict[str, str]) -> float | None:
    """The logarithm of the most probable explanation by variable elimination; None where a table would be too large."""
    with np.errstate(divide="ignore"):
        living = [_sliced(names, np.log(table), states, evidence) for names, table in factors]
    left = set(states) - set(evidence)
    while left:
        costs = {name: _joined_size(living, name, states) for name in left}
        name = min(left, key=lambda one: (costs[one], one))
        if costs[name] > LARGEST:
            return None
        left.remove(name)
        group = [factor for factor in living if name in factor[0]]
        living = [factor for factor in living if name not in factor[0]]
        scope = sorted({other for names, _ in group for other in names} - {name})
        total = np.zeros([len(states[other]) for other in [*scope, name]])
        for names, table in group:
            axes = [([*scope, name]).index(other) for other in names]
            order = np.argsort(axes)
            shape = np.ones(total.ndim, dtype=int)
            shape[np.sort(axes)] = np.array(table.shape)[order]
            total = total + table.transpose(order).reshape(shape)
        living.append((scope, total.max(axis=-1)))
    return float(sum(table for _, table in living))


def _sliced(names: list[str], table: NDArray[np.float64], states: dict[str, list[str]], held: dict[str, str]) -> Factor:
    place = tuple(states[name].index(held[name]) if name in held else slice(None) for name in names)
    return [name for name in names if name not in held], np.asarray(table[place])


def _joined_size(living: list[Factor], name: str, states: dict[str, list[str]]) -> int:
    joined = {other for names, _ in living if name in names for other in names} | {name}
    size = 1
    for other in joined:
        size *= len(states[other])
    return size


def _reader(path: Path, results: Any) -> None:
    start = time.process_time()
    results.put((read_by_pgmpy(path), time.process_time() - start))


def measured(path: Path, reading: float, solving: float) -> dict[str, Any]:
    """One network's row."""
    start = time.process_time()
    problem = read(path)
    row: dict[str, Any] = {"network": path.name.split(".")[0], "variables": problem.num_variables}
    row |= {"numbers": len(problem.pool), "ours": time.process_time() - start}
    results: Any = multiprocessing.Queue()
    child = multiprocessing.Process(target=_reader, args=(path, results))
    child.start()
    try:
        (states, factors), row["pgmpy"] = results.get(timeout=reading)
    except Exception:  # what the queue raises is of another module
        child.kill()
        return {**row, "result": f"pgmpy's reader had not finished after {reading:.0f} s"}
    child.join()
    row["compared"] = same_numbers(problem, states, factors)
    evidence = observed(states, factors, 0)
    expected = eliminated(states, factors, evidence)
    found = dabp.solve(problem, time_limit=solving, fix=evidence, seed=0)
    row |= {"log_probability": None if found.cost is None else -found.cost, "status": found.status.value}
    if expected is None:
        return {**row, "result": "elimination needs too large a table"}
    row["eliminated"] = expected
    close = found.cost is not None and abs(expected + found.cost) <= 1e-9 * max(1, abs(expected))
    return {**row, "result": "equal" if close else "DIFFERENT"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reading", type=float, default=120.0, help="seconds that pgmpy may take for a file")
    parser.add_argument("--solving", type=float, default=60.0, help="time limit of a solve")
    parser.add_argument("--only", default="", help="networks that have this in their name")
    options = parser.parse_args()
    print(
        "| network | variables | numbers | ours, CPU s | pgmpy, CPU s | ln probability | status | second calculation |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for path in real_networks():
        if options.only in path.name:
            row = measured(path, options.reading, options.solving)
            probability = row.get("log_probability")
            cells = [row["network"], row["variables"], row["numbers"], f"{row['ours']:.2f}"]
            cells += [f"{row['pgmpy']:.2f}" if "pgmpy" in row else "–"]
            cells += ["–" if probability is None else f"{probability:.9f}", row.get("status", "–"), row["result"]]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
