"""Problems to and from other packages' objects."""

from __future__ import annotations

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import dabp
from dabp.errors import ProblemError
from dabp.problem import Problem
from tests.problems import exhaustive_optimum, random_problem

_TOULBAR2 = """
import json, os, sys
from tests.problems import random_problem
for seed in range(30):
    if os.fork() == 0:
        problem = random_problem(seed, max_variables=6)
        try:
            found = problem.to_toulbar2().Solve()
        except Exception as error:
            found = None if "contradiction" in str(error) else repr(error)
        print(json.dumps([seed, list(found[:2]) if isinstance(found, tuple) else found]), flush=True)
        os._exit(0)
    os.wait()
"""


def test_graph_colouring_from_networkx() -> None:
    """A five-cycle with three colours: costs of a shared matrix and of one edge's own add up as drawn."""
    graph = nx.cycle_graph(5)
    graph.edges[0, 1]["costs"] = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    graph.nodes[3]["costs"] = [0, 0, 7]
    problem = Problem.from_networkx(graph, domain_size=3, edge_costs=np.eye(3))
    assert problem.variable_names == ("0", "1", "2", "3", "4")
    values = [0, 1, 2, 2, 0]
    expected = sum(
        (values[a] != values[b]) if (a, b) == (0, 1) else (values[a] == values[b]) for a, b in graph.edges
    ) + (7 if values[3] == 2 else 0)
    assert problem.cost(values) == expected
    assert len(problem.pool) == 9 + 9 + 3  # the shared matrix is stored once


def test_which_side_of_a_matrix_is_whose() -> None:
    """A directed edge says it, an undirected one only by the matrix's shape; what is ambiguous is refused."""
    undirected = nx.Graph()
    undirected.add_nodes_from(["b", "a"])
    undirected.add_edge("a", "b", costs=[[0, 1], [5, 6]])
    with pytest.raises(ProblemError, match="edge 'b'-'a' are not symmetric; a DiGraph tells"):
        Problem.from_networkx(undirected, domain_size=2)
    directed = nx.DiGraph()
    directed.add_nodes_from(["b", "a"])
    directed.add_edge("a", "b", costs=[[0, 1], [5, 6]])
    problem = Problem.from_networkx(directed, domain_size=2)
    assert problem.cost(problem.assignment({"a": 0, "b": 1})) == 1
    undirected.nodes["a"]["costs"] = [0, 0, 0]
    undirected.edges["a", "b"]["costs"] = [[0, 1], [5, 6], [7, 8]]
    problem = Problem.from_networkx(undirected, domain_size=2)
    assert problem.cost(problem.assignment({"a": 2, "b": 1})) == 8


def test_graphs_without_costs_are_refused() -> None:
    """What is missing is named."""
    with pytest.raises(ProblemError, match="node 0 has no 'costs'"):
        Problem.from_networkx(nx.path_graph(2))
    with pytest.raises(ProblemError, match="edge 0-1 has no 'costs'"):
        Problem.from_networkx(nx.path_graph(2), domain_size=2)


@pytest.mark.parametrize("seed", range(20))
def test_tables_there_and_back(seed: int) -> None:
    """A problem is its scopes and tables."""
    problem = random_problem(seed)
    again = Problem.from_tables(
        problem.domain_sizes.tolist(), problem.to_tables(), constant=problem.constant, maximize=problem.maximize
    )
    assert again == problem


@pytest.mark.parametrize(("maximize", "limit", "found"), [(False, 3.0, [1]), (False, 2.0, None), (True, -2.0, None)])
def test_the_limit_goes_to_toulbar2(maximize: bool, limit: float, found: list[int] | None) -> None:
    """What a file's bound excludes, toulbar2 does not find."""
    sign = "-" if maximize else ""
    code = (
        "from dabp.problem import Problem\n"
        f"p = Problem([2], [0], [0, 1], [{sign}5.0, {sign}2.0], [0, 2], maximize={maximize}, limit={limit})\n"
        "try:\n    found = p.to_toulbar2().Solve()\n"
        "except Exception as error:\n    assert 'contradiction' in str(error), error\n    found = None\n"
        "print(None if found is None else list(found[0]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert run.stdout.splitlines()[-1] == str(found)


def test_toulbar2_networks() -> None:
    """toulbar2 solves the network we hand it to the optimum of exhaustive search, and reports our cost."""
    run = subprocess.run([sys.executable, "-c", _TOULBAR2], capture_output=True, text=True, timeout=100, check=True)
    answers = dict(json.loads(line) for line in run.stdout.splitlines())
    assert len(answers) == 30
    for seed, found in answers.items():
        problem = random_problem(seed, max_variables=6)
        best = exhaustive_optimum(problem)
        if best is None:
            assert found is None
            continue
        values, cost = found
        assert problem.cost(values) == pytest.approx(best, abs=1e-4), seed
        assert (-cost if problem.maximize else cost) == pytest.approx(best, abs=1e-4), seed


def test_answers_have_the_nodes_as_keys() -> None:
    """Tuples, numbers, text and objects stay what they are, also where their text is the same; files get names."""
    thing = object()
    graph = nx.Graph([((0, 1), 1), (1, "1"), ("1", thing), (thing, (0, 1))])
    problem = Problem.from_networkx(graph, domain_size=2, edge_costs=np.eye(2))
    result = dabp.solve(problem, fix={(0, 1): 1}, time_limit=20)
    assert result.values == {(0, 1): 1, 1: 0, "1": 1, thing: 0}
    assert problem.cost(result.values) == 0
    assert problem.assignment({(0, 1): 1, 1: 0, "1": 1, thing: 0}).tolist() == [1, 0, 1, 0]
    assert dabp.solve(problem, initial=result, max_iterations=1).cost == 0
    assert problem.variable_names[1:3] == ("1", "1_2")
    assert list(result.to_dict(problem)["assignment"])[1:3] == ["1", "1_2"]
    assert problem.replace(constant=1.0).keys == problem.keys


def test_weights_of_edges() -> None:
    """They multiply the shared matrix; equal ones share a table, and forbidden combinations stay so."""
    graph = nx.path_graph(5)
    for edge, weight in zip(graph.edges, (2, 0.5, 2, 0), strict=True):
        graph.edges[edge]["weight"] = weight
    graph.add_edge(0, 4)  # without: 1
    problem = Problem.from_networkx(graph, domain_size=2, edge_costs=[[0, 3], [3, np.inf]], weight="weight")
    assert problem.cost([0, 1, 0, 1, 0]) == 6 + 1.5 + 6 + 0 + 0
    assert problem.cost([0, 1, 0, 1, 1]) == np.inf
    assert len(problem.pool) == 4 * 4
    graph.edges[0, 1]["weight"] = "heavy"
    with pytest.raises(ProblemError, match="weight of edge 0-1 is 'heavy'"):
        Problem.from_networkx(graph, domain_size=2, edge_costs=np.eye(2), weight="weight")
    graph.add_edge(2, 2)
    with pytest.raises(ProblemError, match="edge 2-2 is a loop"):
        Problem.from_networkx(graph, domain_size=2, edge_costs=np.eye(2))


def test_node_costs_by_value() -> None:
    """A dictionary of a node's costs is read by value, not by order."""
    graph = nx.Graph()
    graph.add_node("n", costs={1: 5, 0: 2})
    assert Problem.from_networkx(graph).cost({"n": 1}) == 5
    graph.add_node("n", costs={1: 5, 2: 2})
    with pytest.raises(ProblemError, match="2, which is no value of variable 'n'"):
        Problem.from_networkx(graph)
