"""`DabpSampler`: dabp as a sampler of dimod, for binary, discrete and constrained models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from dabp.driver.result import Result
from dabp.driver.solve import solve
from dabp.errors import ParameterError, ProblemError
from dabp.packages import require
from dabp.problem import Problem
from dabp.problem.interop import from_dimod
from dabp.problem.model import Model

require("dimod", "DabpSampler")
import dimod

DEFAULT_SECONDS = 5.0
"""Time limit of all reads together where the caller gives none."""


class ReadOptions(TypedDict, total=False):
    """Keyword arguments of the samplers; `DabpSampler.sample` says what each means."""

    time_limit: float
    num_reads: int
    solver: str
    seed: int
    threads: int | None


class DabpSampler(dimod.Sampler):
    """Sample the best answers to a dimod model with any solver of dabp.

    Each read is a solve with a seed of its own and an equal part of the time. Once a read has proved its answer
    optimal, the remaining reads count as occurrences of it.

    Examples
    --------
    >>> import dimod
    >>> sampleset = DabpSampler().sample(dimod.BQM.from_ising({"a": 1.0}, {("a", "b"): -1.0}), time_limit=2)
    >>> sampleset.first.energy
    -2.0
    """

    properties: ClassVar[dict[str, Any]] = {"vartypes": ["BINARY", "SPIN"]}
    parameters: ClassVar[dict[str, list[str]]] = {
        name: [] for name in ("time_limit", "num_reads", "solver", "seed", "threads")
    }

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        *,
        time_limit: float = DEFAULT_SECONDS,
        num_reads: int = 1,
        solver: str = "auto",
        seed: int = 0,
        threads: int | None = None,
        **unknown: Any,
    ) -> dimod.SampleSet:
        """Samples of a binary quadratic model.

        Parameters
        ----------
        bqm
            The model; its variables may be any hashable objects.
        time_limit
            Seconds for all reads together.
        num_reads
            How many answers are returned, counted with their occurrences.
        solver
            A solver of dabp by name.
        seed
            The seed of the first read; the following reads count upwards.
        threads
            Threads of each read; by default as many as `dabp.solve` takes.
        unknown
            Parameters of other samplers, which are ignored with dimod's warning.

        Returns
        -------
        SampleSet
            With the status and the bound of the best read, and the seconds taken, in ``info``.
        """
        self.remove_unknown_kwargs(**unknown)
        variables = list(bqm.variables)
        if not variables:
            return dimod.SampleSet.from_samples_bqm([{} for _ in range(num_reads)], bqm)
        problem = from_dimod(bqm.relabel_variables_as_integers(inplace=False)[0])
        low, high = (-1, 1) if bqm.vartype is dimod.SPIN else (0, 1)

        def sampled(values: NDArray[np.int64], occurrences: list[int]) -> dimod.SampleSet:
            rows = np.where(values == 1, high, low).astype(np.int8)
            return dimod.SampleSet.from_samples_bqm((rows, variables), bqm, num_occurrences=occurrences)

        return _read(problem, sampled, time_limit, num_reads, solver, seed, threads)

    def sample_dqm(self, dqm: dimod.DiscreteQuadraticModel, **options: Unpack[ReadOptions]) -> dimod.SampleSet:
        """Samples of a discrete quadratic model; parameters as those of `sample`."""
        variables = list(dqm.variables)
        sizes = [dqm.num_cases(variable) for variable in variables]
        index = {variable: i for i, variable in enumerate(variables)}
        tables: list[tuple[tuple[int, ...], NDArray[np.float64]]] = []
        for i, variable in enumerate(variables):
            tables.append(((i,), np.asarray(dqm.get_linear(variable), dtype=np.float64)))
            for other in dqm.adj[variable]:
                if (j := index[other]) > i:
                    table = np.zeros((sizes[i], sizes[j]))
                    for (a, b), bias in dqm.get_quadratic(variable, other).items():
                        table[a, b] = bias
                    tables.append(((i, j), table))
        problem = Problem.from_tables(sizes, tables, constant=float(dqm.offset))

        def sampled(values: NDArray[np.int64], occurrences: list[int]) -> dimod.SampleSet:
            energies = np.array([problem.cost(row) for row in values])
            return dimod.SampleSet.from_samples(
                (values, variables), "DISCRETE", energies, num_occurrences=occurrences, sort_labels=False
            )

        return _read(problem, sampled, **options)

    def sample_cqm(self, cqm: dimod.ConstrainedQuadraticModel, **options: Unpack[ReadOptions]) -> dimod.SampleSet:
        """Samples of a constrained quadratic model with linear constraints and variables of finitely many values.

        Soft constraints keep their weight where their penalty is linear. Parameters as those of `sample`.
        """
        variables = list(cqm.variables)
        names = {variable: f"v{i}" for i, variable in enumerate(variables)}
        model = Model("cqm")
        for variable in variables:
            model.add_variable(names[variable], _values(cqm, variable))
        for variable, bias in cqm.objective.linear.items():
            model.add_cost([names[variable]], lambda value, bias=float(bias): bias * value)
        for (first, second), bias in cqm.objective.quadratic.items():
            scope = [names[first]] if first == second else [names[first], names[second]]
            model.add_cost(scope, lambda a, b=None, bias=float(bias): bias * a * (a if b is None else b))
        model.add_constant(float(cqm.objective.offset))
        for label, constraint in cqm.constraints.items():
            left = constraint.lhs
            if left.num_interactions:
                raise ProblemError(f"constraint {label!r} is quadratic; dabp takes linear constraints of a CQM")
            price = None
            if left.is_soft():
                if left.penalty() != "linear":
                    raise ProblemError(f"constraint {label!r} has a {left.penalty()} penalty; dabp takes linear ones")
                price = float(left.weight())
            terms = {names[variable]: float(bias) for variable, bias in left.linear.items()}
            model.linear(terms, constraint.sense.value, float(constraint.rhs - left.offset), price=price)
        problem = model.build()

        def sampled(values: NDArray[np.int64], occurrences: list[int]) -> dimod.SampleSet:
            labels = [np.array(problem.names.labels(i)) for i in range(len(variables))]
            rows = np.stack([label[values[:, i]] for i, label in enumerate(labels)], axis=1)
            return dimod.SampleSet.from_samples_cqm((rows, variables), cqm, num_occurrences=occurrences)

        return _read(problem, sampled, **options)


def _values(cqm: dimod.ConstrainedQuadraticModel, variable: Any) -> Iterable[int]:
    """The values of a variable of a constrained model."""
    vartype = cqm.vartype(variable)
    if vartype is dimod.BINARY:
        return (0, 1)
    if vartype is dimod.SPIN:
        return (-1, 1)
    if vartype is dimod.INTEGER:
        return range(int(cqm.lower_bound(variable)), int(cqm.upper_bound(variable)) + 1)
    raise ProblemError(f"variable {variable!r} is {vartype.name}; dabp takes variables of finitely many values")


def _read(
    problem: Problem,
    sampled: Callable[[NDArray[np.int64], list[int]], dimod.SampleSet],
    time_limit: float = DEFAULT_SECONDS,
    num_reads: int = 1,
    solver: str = "auto",
    seed: int = 0,
    threads: int | None = None,
) -> dimod.SampleSet:
    """The answers of `num_reads` solves as a sample set."""
    if not isinstance(num_reads, int) or num_reads < 1:
        raise ParameterError(f"num_reads must be a positive whole number, got {num_reads!r}")
    started = time.perf_counter()
    found: list[Result] = []
    occurrences: list[int] = []
    for read in range(num_reads):
        left = max(time_limit - (time.perf_counter() - started), 0.0)
        result = solve(problem, solver, time_limit=left / (num_reads - read), seed=seed + read, threads=threads)
        found.append(result)
        proved = result.status.value in ("OPTIMAL", "INFEASIBLE")
        occurrences.append(num_reads - read if proved else 1)
        if proved:
            break
    best = min(found, key=lambda result: np.inf if result.cost is None else result.cost)
    answers = [(r.assignment, n) for r, n in zip(found, occurrences, strict=True) if r.assignment is not None]
    if not answers:
        raise ProblemError(f"no feasible sample was found: {best.status.value}")
    rows, counts = zip(*answers, strict=True)
    sampleset = sampled(np.array(rows, dtype=np.int64), list(counts))
    seconds = time.perf_counter() - started
    sampleset.info.update(status=best.status.value, bound=best.bound, timing={"run_time_seconds": seconds})
    return sampleset
