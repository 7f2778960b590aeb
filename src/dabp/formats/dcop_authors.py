"""The DCOP files of the authors of DABP, written so that their program reads them; see docs/formats/xml.md.

An agent and a variable ``X1.1``, ``X2.1``, … each, binary constraints with a relation each, every tuple listed with
values counted from 1, and no default cost. Reading is that of `dabp.formats.dcop_xml`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dabp.errors import FormatError
from dabp.formats import dcop_xml
from dabp.formats.numerals import decimal
from dabp.problem import Problem
from dabp.problem.facts import minimized

read = dcop_xml.read


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Text of such a file, and notes on what it could not say."""
    other = np.flatnonzero(problem.arities != 2)
    if len(other):
        named, arity = problem.names.factor(int(other[0])), int(problem.arities[other[0]])
        raise FormatError(f"the authors' files have binary constraints only; factor {named!r} has {arity} variables")
    if not np.isfinite(problem.pool).all():
        raise FormatError("the authors' files cannot forbid combinations; this problem does")
    notes = []
    if problem.names.variable_names or problem.names.value_labels:
        notes.append("names of variables and values are left out: variables are X1.1, X2.1, … and values 1, 2, …")
    if problem.constant:
        notes.append(f"the constant {problem.constant:g} is left out: the authors' files have none")
    if problem.maximize:
        notes.append("maximisation is written as minimisation of the negated costs")
    return _lines(minimized(problem)), notes


def _lines(problem: Problem) -> Iterator[str]:
    count = problem.num_variables
    sizes, domain = np.unique(problem.domain_sizes, return_inverse=True)
    yield f'<?xml version="1.0" ?>\n<instance>\n   <presentation type="BINARY"/>\n   <agents nbAgents="{count}">\n'
    for i in range(1, count + 1):
        yield f'      <agent name="A{i}" id="{i}" description="Agent {i}"/>\n'
    yield f'   </agents>\n   <domains nbDomains="{len(sizes)}">\n'
    for d, size in enumerate(sizes.tolist(), 1):
        yield f'      <domain name="D{d}" nbValues="{size}"/>\n'
    yield f'   </domains>\n   <variables nbVariables="{count}">\n'
    for i, d in enumerate(domain.tolist(), 1):
        yield f'      <variable agent="A{i}" name="X{i}.1" domain="D{d + 1}" description="Variable X{i}.1"/>\n'
    yield f'   </variables>\n   <constraints nbConstraints="{problem.num_factors}">\n'
    for f in range(1, problem.num_factors + 1):
        first, second = (problem.scope(f - 1) + 1).tolist()
        yield f'      <constraint name="C{f}" arity="2" scope="X{first}.1 X{second}.1" reference="R{f}"/>\n'
    yield f'   </constraints>\n   <relations nbRelations="{problem.num_factors}">\n'
    for f in range(problem.num_factors):
        table = problem.table(f)
        rows = zip(np.ndindex(table.shape), table.ravel().tolist(), strict=True)
        tuples = "|".join(f"{decimal(cost)}:{i + 1} {j + 1}" for (i, j), cost in rows)
        yield f'      <relation name="R{f + 1}">{tuples}</relation>\n'
    yield "   </relations>\n</instance>\n"
