"""The methods of `Problem` that give problems to other packages and take theirs."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np

from dabp.problem import Problem


def test_tables_go_out_and_come_back() -> None:
    """Scopes with NumPy tables: the costs are the same for all assignments."""
    tables = [((0, 1), np.arange(6).reshape(2, 3)), ((1,), np.array([3, 0, 7]))]
    problem = Problem.from_tables([2, 3], tables)
    assert problem.cost([1, 2]) == 5 + 7
    assert [(tuple(scope), table.tolist()) for scope, table in problem.to_tables()] == [
        (scope, table.tolist()) for scope, table in tables
    ]


def test_a_graph_becomes_a_problem() -> None:
    """A vertex is a variable, an edge a factor."""
    problem = Problem.from_networkx(nx.path_graph(4), domain_size=3, edge_costs=np.eye(3))
    assert (problem.num_variables, problem.num_factors) == (4, 3)
    assert problem.cost([0, 0, 1, 1]) == 2


def test_nothing_of_others_is_imported_before_it_is_asked_for() -> None:
    """A program that builds problems loads no graph library and no solver."""
    code = "import sys; from dabp.problem import Problem; Problem([2])\n"
    code += "print({'networkx', 'pytoulbar2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
