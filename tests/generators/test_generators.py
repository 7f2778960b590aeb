"""Generators: the paper's families, both variants."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.generators import GENERATORS, generate
from dabp.problem import Problem


def graph(problem: Problem) -> nx.Graph:
    """The constraint graph."""
    result = nx.Graph()
    result.add_nodes_from(range(problem.num_variables))
    result.add_edges_from(problem.scope_variables.reshape(-1, 2).tolist())
    return result


@pytest.mark.parametrize("family", GENERATORS)
def test_same_seed_same_problem(family: str) -> None:
    """A seed decides everything; another seed gives another problem."""
    assert generate(family, seed=3) == generate(family, seed=3)
    assert generate(family, seed=3) != generate(family, seed=4)
    assert generate(family, seed=3).num_variables == 60


@pytest.mark.parametrize("density", [0.05, 0.25, 0.9])
def test_authors_random_graphs_are_connected_with_an_exact_number_of_edges(density: float) -> None:
    """The authors' program counts edges exactly; the text draws them."""
    problem = generate("random-cop", variables=40, domain=3, density=density, seed=1)
    assert nx.is_connected(graph(problem))
    assert problem.num_factors == graph(problem).number_of_edges() == int(density * 40 * 39 / 2)
    counts = {
        generate("random-cop", variables=40, domain=2, density=density, variant="text", seed=s).num_factors
        for s in range(5)
    }
    assert len(counts) > 1


def test_costs_of_colouring() -> None:
    """Equal values cost integers 1..100; unequal ones less than 0.1, or nothing in the text's variant."""
    for variant, largest in (("authors", 0.1), ("text", 0.0)):
        tables = generate("graph-coloring", variant=variant, seed=2).pool.reshape(-1, 5, 5)
        diagonal = tables[:, np.arange(5), np.arange(5)]
        assert diagonal.min() >= 1
        assert diagonal.max() <= 100
        assert np.all(diagonal == np.rint(diagonal))
        off = tables[:, ~np.eye(5, dtype=bool)]
        assert off.min() >= 0
        assert off.max() <= largest


def test_scale_free_has_hubs_and_the_right_number_of_edges() -> None:
    """A tree on m0 vertices and m1 edges for each later one; degrees are unequal."""
    problem = generate("scale-free", variables=200, domain=2, m0=10, m1=10, seed=0)
    degrees = np.bincount(problem.scope_variables)
    assert problem.num_factors == 9 + 190 * 10
    assert degrees.max() > 3 * np.median(degrees)
    assert generate("scale-free", variables=5, m0=2, m1=10).num_factors == 1 + 2 + 3 + 4


def test_small_world_contains_its_ring() -> None:
    """Every vertex keeps its k nearest neighbours; about p·n·k/2 shortcuts are added."""
    problem = generate("small-world", variables=100, domain=2, k=10, p=0.3, seed=0)
    edges = set(graph(problem).edges)
    assert all((min(u, (u + s) % 100), max(u, (u + s) % 100)) in edges for u in range(100) for s in range(1, 6))
    assert 500 + 100 < problem.num_factors < 500 + 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"family": "random-cob"},
        {"family": "random-cop", "m0": 3},
        {"family": "random-cop", "variables": 0},
        {"family": "random-cop", "density": 2.0},
        {"family": "random-cop", "variant": "mine"},
        {"family": "scale-free", "m1": 0},
        {"family": "small-world", "p": -0.1},
        {"family": "random-cop", "seed": -1},
        {"family": "random-cop", "max_cost": -1},
        {"family": "graph-coloring", "max_cost": 0},
        {"family": "scale-free", "variables": 5.5},
        {"family": "small-world", "variables": True},
        {"family": "random-cop", "density": "0.3"},
    ],
)
def test_wrong_parameters_are_refused(arguments: dict[str, object]) -> None:
    """A wrong name or value is one sentence, not a crash."""
    with pytest.raises(ParameterError):
        generate(**arguments)  # type: ignore[arg-type]
