"""Problems to and from other packages' objects."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys

import dimod
import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import dabp
from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.interop import sample_array, to_dimod, to_sampleset, to_tables
from tests.problems import all_assignments, exhaustive_optimum, random_problem

_TOULBAR2 = """
import json, os, sys
import dabp
from tests.problems import random_problem
for seed in range(30):
    if os.fork() == 0:
        problem = random_problem(seed, max_variables=6)
        try:
            found = dabp.interop.to_toulbar2(problem).Solve()
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
    assert problem.names.variables == ("0", "1", "2", "3", "4")
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
    assert problem.cost(problem.names.assignment({"a": 0, "b": 1})) == 1
    undirected.nodes["a"]["costs"] = [0, 0, 0]
    undirected.edges["a", "b"]["costs"] = [[0, 1], [5, 6], [7, 8]]
    problem = Problem.from_networkx(undirected, domain_size=2)
    assert problem.cost(problem.names.assignment({"a": 2, "b": 1})) == 8


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
        problem.domain_sizes.tolist(), to_tables(problem), constant=problem.constant, maximize=problem.maximize
    )
    assert again == problem


@pytest.mark.parametrize(("maximize", "limit", "found"), [(False, 3.0, [1]), (False, 2.0, None), (True, -2.0, None)])
def test_the_limit_goes_to_toulbar2(maximize: bool, limit: float, found: list[int] | None) -> None:
    """What a file's bound excludes, toulbar2 does not find."""
    sign = "-" if maximize else ""
    code = (
        "import dabp\nfrom dabp.problem import Problem\n"
        f"p = Problem([2], [0], [0, 1], [{sign}5.0, {sign}2.0], [0, 2], maximize={maximize}, limit={limit})\n"
        "try:\n    found = dabp.interop.to_toulbar2(p).Solve()\n"
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
    assert problem.names.assignment({(0, 1): 1, 1: 0, "1": 1, thing: 0}).tolist() == [1, 0, 1, 0]
    assert dabp.solve(problem, initial=result, max_iterations=1).cost == 0
    assert problem.names.variables[1:3] == ("1", "1_2")
    assert list(result.to_dict(problem)["assignment"])[1:3] == ["1", "1_2"]
    assert problem.replace(constant=1.0).names.keys == problem.names.keys


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
    with pytest.raises(ProblemError, match="weight of edge 0-1 is a number"):
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


def _matrix(seed: int, size: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (size, size)) * (rng.random((size, size)) < 0.6) * 1.5


@pytest.mark.parametrize("seed", range(5))
def test_every_form_of_a_matrix(seed: int) -> None:
    """Dense, sparse and dictionary are one problem, whose cost is x'Qx + offset."""
    matrix = _matrix(seed)
    terms = {(i, j): float(matrix[i, j]) for i in range(5) for j in range(5)}
    problem = Problem.from_qubo(matrix, 2.5)
    assert Problem.from_qubo(terms, 2.5) == problem
    for form in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array):
        assert Problem.from_qubo(form(matrix), 2.5) == problem
    for x in all_assignments(problem):
        assert problem.cost(x) == pytest.approx(x @ matrix @ x + 2.5)


@pytest.mark.parametrize("seed", range(5))
def test_ising(seed: int) -> None:
    """Labels are the spins, and the cost is h's + s'Js + offset; dictionaries give the same."""
    field, couplings = np.random.default_rng(seed).integers(-2, 3, 5) / 2, _matrix(seed)
    problem = Problem.from_ising(field, couplings, -1.0, maximize=True)
    named = Problem.from_ising(
        dict(enumerate(field.tolist())),
        {(i, j): float(couplings[i, j]) for i in range(5) for j in range(5)},
        -1.0,
        maximize=True,
    )
    assert named == problem
    for x in all_assignments(problem):
        s = np.array(list(problem.names.labelled(x).values()))
        assert set(s.tolist()) <= {-1, 1}
        assert problem.cost(x) == pytest.approx(field @ s + s @ couplings @ s - 1)


def test_names_of_a_dictionary() -> None:
    """Keys that are no numbers from 0 on name the variables, in order of appearance."""
    assert Problem.from_qubo({("b", "a"): 1.0, ("c", "c"): 2.0}).names.variables == ("b", "a", "c")
    assert Problem.from_qubo({(7, 3): 1.0}).names.variables == ("7", "3")
    assert not Problem.from_qubo({(1, 0): 1.0}).names.variable_names is not None
    assert Problem.from_qubo({}).num_variables == 0


@pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
@pytest.mark.parametrize("seed", range(12))
def test_dimod_there_and_back(vartype: str, seed: int) -> None:
    """Every assignment costs the energy that dimod gives it, in the problem and in the model made of it."""
    model = dimod.generators.gnm_random_bqm(6, 9, vartype, random_state=seed)
    model.offset = seed - 3.0
    if seed % 2:
        model = model.relabel_variables({v: f"v{v}" for v in model.variables}, inplace=False)
    problem = Problem.from_dimod(model)
    again = to_dimod(problem)
    assert again.vartype == model.vartype
    assert list(again.variables) == list(model.variables)
    states = all_assignments(problem)
    samples = sample_array(problem, states)
    energies = model.energies((samples, list(model.variables)))
    np.testing.assert_allclose(problem.cost(states), energies, atol=1e-12)
    np.testing.assert_allclose(again.energies((samples, list(again.variables))), energies, atol=1e-12)


def test_answers_as_samples() -> None:
    """A sample set has the problem's values and costs, the least first, negated where the problem maximises."""
    problem = Problem.from_ising([1.0, -1.0], np.zeros((2, 2)), maximize=True)
    samples = to_sampleset(problem, [[0, 0], [1, 0], [0, 1]])
    assert dict(samples.first.sample) == {0: 1, 1: -1}
    assert samples.first.energy == -2
    assert samples.vartype is dimod.SPIN
    assert sample_array(problem, [1, 0]).tolist() == [1, -1]
    assert sample_array(Problem([2, 2]), [1, 0]).tolist() == [1, 0]
    with pytest.raises(ProblemError, match="two-valued"):
        sample_array(Problem([3]), [2])


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: Problem.from_qubo(np.zeros((2, 3))), "square"),
        (lambda: Problem.from_qubo(np.zeros(3)), "square"),
        (lambda: Problem.from_qubo({"ab": 1.0}), "pairs of variables"),
        (lambda: Problem.from_ising([1.0], np.zeros((2, 2))), "J is for 2 spins"),
        (lambda: Problem.from_ising({0: 1.0}, np.zeros((2, 2))), "both dictionaries or both arrays"),
        (lambda: Problem.from_qubo([[np.inf]]), "a coefficient is inf"),
    ],
)
def test_what_is_no_model(call: object, reason: str) -> None:
    """One sentence instead of an exception of NumPy."""
    with pytest.raises(ProblemError, match=reason):
        call()  # type: ignore[operator]


class _Factor:
    """What pgmpy's factors have, for where it is not installed."""

    def __init__(self, variables: list[str], values: object, state_names: dict[str, list[str]]):
        self.variables, self.values, self.state_names = variables, np.array(values), state_names


class _Bayesian:
    def __init__(self, nodes: list[str], parts: list[_Factor]):
        self._nodes, self._parts = nodes, parts

    def nodes(self) -> list[str]:
        return self._nodes

    def get_cpds(self) -> list[_Factor]:
        return self._parts


_STATES = {"a": ["t", "f"], "b": ["x", "y", "z"]}
_PARTS = [
    _Factor(["a"], [0.25, 0.75], {"a": ["t", "f"]}),
    _Factor(["b", "a"], [[0.1, 0.4], [0.2, 0.3], [0.7, 0.3]], {"a": ["f", "t"], "b": ["x", "y", "z"]}),
]


def test_states_in_another_order() -> None:
    """Each factor names its states in an order of its own; the table is taken by name."""
    problem = Problem.from_pgmpy(_Bayesian(["a", "b"], _PARTS))
    assert [problem.names.labels(0), problem.names.labels(1)] == [("t", "f"), ("x", "y", "z")]
    assert problem.scope(1).tolist() == [0, 1]
    rows = {"f": [0.1, 0.2, 0.7], "t": [0.4, 0.3, 0.3]}
    for a, b in itertools.product("tf", "xyz"):
        p = (0.25 if a == "t" else 0.75) * rows[a]["xyz".index(b)]
        assert problem.cost(problem.names.assignment({"a": a, "b": b})) == pytest.approx(-math.log(p))


def test_a_variable_without_a_distribution() -> None:
    """It is named."""
    with pytest.raises(ProblemError, match="variable 'b' has no distribution"):
        Problem.from_pgmpy(_Bayesian(["a", "b"], _PARTS[:1]))


def test_pgmpy() -> None:
    """The joint probability is the product of what pgmpy's own distributions say, of a Markov network, too."""
    models = pytest.importorskip("pgmpy.models", reason="pgmpy is not installed")
    factors = pytest.importorskip("pgmpy.factors.discrete")
    model = models.DiscreteBayesianNetwork([("a", "b")])
    model.add_cpds(
        factors.TabularCPD("a", 2, [[0.25], [0.75]], state_names={"a": ["t", "f"]}),
        factors.TabularCPD("b", 2, [[0.1, 0.4], [0.9, 0.6]], ["a"], [2], state_names=_STATES | {"b": ["x", "y"]}),
    )
    problem, markov = Problem.from_pgmpy(model), Problem.from_pgmpy(model.to_markov_model())
    for a, b in itertools.product("tf", "xy"):
        p = math.prod(cpd.get_value(**{v: {"a": a, "b": b}[v] for v in cpd.variables}) for cpd in model.get_cpds())
        values = {"a": a, "b": b}
        assert problem.cost(problem.names.assignment(values)) == pytest.approx(-math.log(p))
        assert markov.cost(markov.names.assignment(values)) == pytest.approx(-math.log(p))


@pytest.mark.parametrize("seed", range(5))
def test_pyagrum(seed: int) -> None:
    """The joint probability is what pyAgrum says, for domains of different sizes and several parents."""
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    gum.initRandom(seed + 1)
    model = gum.fastBN("a[3]->b[2];c[4]->b;b->d{u|v|w};a->d")
    problem = Problem.from_pyagrum(model)
    assert problem.names.labels(problem.names.variable_index("d")) == ("u", "v", "w")
    rng = np.random.default_rng(seed)
    for _ in range(20):
        values = problem.names.labelled(rng.integers(0, problem.domain_sizes))
        instance = gum.Instantiation()
        for name in problem.names.variables:
            instance.add(model.variable(name))
        instance.fromdict({name: str(value) for name, value in values.items()})
        expected = model.jointProbability(instance)
        assert problem.cost(problem.names.assignment(values)) == pytest.approx(-math.log(expected), rel=1e-6)


def test_nothing_of_others_is_imported_before_it_is_asked_for() -> None:
    """A program that builds problems loads no graph library and no solver."""
    code = "import sys; from dabp.problem import Problem; Problem([2])\n"
    code += "print({'networkx', 'pytoulbar2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
