"""Random Bayesian networks, and where real ones are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import offsets_of


def random_network(seed: int, size: int = 6) -> Problem:
    """A Bayesian network of up to `size` variables with names, up to three parents each, some probabilities of 0."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, size + 1))
    sizes = rng.integers(1, 4, count)
    order = rng.permutation(count)
    scopes, tables = [], []
    for place, child in enumerate(order.tolist()):
        parents = rng.permutation(order[:place])[: rng.integers(0, 4)].tolist()
        table = rng.random((*sizes[parents], sizes[child])) * (rng.random((*sizes[parents], sizes[child])) < 0.8) + 1e-9
        scopes.append([*parents, child])
        tables.append(-np.log(table / table.sum(axis=-1, keepdims=True)).ravel())
    return Problem(
        sizes,
        np.concatenate(scopes),
        offsets_of([len(scope) for scope in scopes]),
        np.concatenate(tables),
        offsets_of([len(table) for table in tables]),
        variable_names=[f"node {i}" if i % 2 else f"n{i}" for i in range(count)],
        factor_names=[f"node {scope[-1]}" if scope[-1] % 2 else f"n{scope[-1]}" for scope in scopes],
        labels=[tuple(f"<{v}" if i % 3 else f"a, {v}" for v in range(d)) for i, d in enumerate(sizes.tolist())],
        name=f"net {seed}",
    )


def real_networks() -> list[Path]:
    """The networks that pgmpy carries, if it is installed."""
    found = importlib.util.find_spec("pgmpy")
    if found is None or found.origin is None:
        return []
    return sorted((Path(found.origin).parent / "utils" / "example_models").glob("*.bif.gz"))
