"""Networks of other packages are the problems that their tables say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dabp.errors import ProblemError
from dabp.problem import Problem


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
    assert [problem.labels(0), problem.labels(1)] == [("t", "f"), ("x", "y", "z")]
    assert problem.scope(1).tolist() == [0, 1]
    rows = {"f": [0.1, 0.2, 0.7], "t": [0.4, 0.3, 0.3]}
    for a, b in itertools.product("tf", "xyz"):
        p = (0.25 if a == "t" else 0.75) * rows[a]["xyz".index(b)]
        assert problem.cost(problem.assignment({"a": a, "b": b})) == pytest.approx(-math.log(p))


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
        assert problem.cost(problem.assignment(values)) == pytest.approx(-math.log(p))
        assert markov.cost(markov.assignment(values)) == pytest.approx(-math.log(p))


@pytest.mark.parametrize("seed", range(5))
def test_pyagrum(seed: int) -> None:
    """The joint probability is what pyAgrum says, for domains of different sizes and several parents."""
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    gum.initRandom(seed + 1)
    model = gum.fastBN("a[3]->b[2];c[4]->b;b->d{u|v|w};a->d")
    problem = Problem.from_pyagrum(model)
    assert problem.labels(problem.variable_index("d")) == ("u", "v", "w")
    rng = np.random.default_rng(seed)
    for _ in range(20):
        values = problem.labelled(rng.integers(0, problem.domain_sizes))
        instance = gum.Instantiation()
        for name in problem.variable_names:
            instance.add(model.variable(name))
        instance.fromdict({name: str(value) for name, value in values.items()})
        expected = model.jointProbability(instance)
        assert problem.cost(problem.assignment(values)) == pytest.approx(-math.log(expected), rel=1e-6)
