"""Honest files of every format and of any size: what the memory of readers is measured on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

VARIABLES = 1000


def _pairs(size: int, text: Callable[[random.Random, int, int, int], str]) -> tuple[int, str]:
    """Pieces for random pairs of variables until there are so many bytes; how many, and all of them."""
    rng, parts, length = random.Random(0), list[str](), 0
    while length < size:
        i, j = sorted(rng.sample(range(VARIABLES), 2))
        parts.append(text(rng, len(parts), i, j))
        length += len(parts[-1])
    return len(parts), "".join(parts)


def _costs(rng: random.Random, count: int, digits: int = 3) -> list[str]:
    return [str(rng.randrange(10**digits)) for _ in range(count)]


def _chances(rng: random.Random, rows: int, columns: int) -> Iterator[list[str]]:
    for _ in range(rows):
        numbers = [rng.randrange(1, 100) for _ in range(columns)]
        yield [f"{number / sum(numbers):.6f}" for number in numbers]


def _wcsp(size: int, domain: int) -> str:
    tuples = [(a, b) for a in range(domain) for b in range(domain)]
    count, text = _pairs(
        size,
        lambda rng, _, i, j: (
            f"2 {i} {j} 0 {len(tuples)}\n"
            + "".join(f"{a} {b} {c}\n" for (a, b), c in zip(tuples, _costs(rng, len(tuples)), strict=True))
        ),
    )
    return f"p {VARIABLES} {domain} {count} 1000000000\n{' '.join([str(domain)] * VARIABLES)}\n{text}"


def _cfn(size: int, domain: int) -> str:
    _, text = _pairs(
        size,
        lambda rng, f, i, j: (
            f'"f{f}": {{"scope": ["v{i}", "v{j}"], "costs": [{", ".join(_costs(rng, domain**2))}]}},\n'
        ),
    )
    names = ",\n".join(f'"v{i}": {domain}' for i in range(VARIABLES))
    return (
        f'{{"problem": {{"name": "p", "mustbe": "<1000000000"}},\n"variables": {{{names}}},\n"functions": {{{text}}}}}'
    )


def _uai(size: int, domain: int, *, logarithms: bool = False) -> str:
    scopes, tables = list[str](), list[str]()

    def piece(rng: random.Random, _: int, i: int, j: int) -> str:
        scopes.append(f"2 {i} {j}\n")
        numbers = [f"{'-' * logarithms}{rng.random():.6f}" for _ in range(domain**2)]
        tables.append(f"{domain**2} {' '.join(numbers)}\n")
        return scopes[-1] + tables[-1]

    count, _ = _pairs(size, piece)
    sizes = " ".join([str(domain)] * VARIABLES)
    return f"MARKOV\n{VARIABLES}\n{sizes}\n{count}\n{''.join(scopes)}{''.join(tables)}"


def _xml(size: int, domain: int) -> str:
    tuples = [f"{a} {b}" for a in range(domain) for b in range(domain)]
    constraints = list[str]()

    def relation(rng: random.Random, f: int, i: int, j: int) -> str:
        constraints.append(f'<constraint name="c{f}" arity="2" scope="x{i} x{j}" reference="r{f}"/>\n')
        text = "|".join(f"{c}:{one}" for c, one in zip(_costs(rng, len(tuples)), tuples, strict=True))
        return f'<relation name="r{f}" arity="2" nbTuples="{len(tuples)}" semantics="soft">{text}</relation>\n'

    _, text = _pairs(size, relation)
    names = "\n".join(f'<variable name="x{i}" domain="d"/>' for i in range(VARIABLES))
    return (
        f'<instance><domains><domain name="d" nbValues="{domain}">0..{domain - 1}</domain></domains>\n<variables>'
        f"{names}</variables>\n<relations>{text}</relations>\n<constraints>{''.join(constraints)}</constraints></instance>"
    )


def _yaml(size: int, domain: int) -> str:
    tuples = [f"{a} {b}" for a in range(domain) for b in range(domain)]

    def constraint(rng: random.Random, f: int, i: int, j: int) -> str:
        by_cost: dict[str, list[str]] = {}
        for one in tuples:
            by_cost.setdefault(str(rng.randrange(10)), []).append(one)
        values = "".join(f'      {cost}: "{" | ".join(rows)}"\n' for cost, rows in by_cost.items())
        return f"  c{f}:\n    type: extensional\n    variables: [x{i}, x{j}]\n    values:\n{values}"

    _, text = _pairs(size, constraint)
    names = "".join(f"  x{i}: {{domain: d}}\n" for i in range(VARIABLES))
    domains = f"domains:\n  d: {{values: [0 .. {domain - 1}]}}\n"
    return f"name: p\nobjective: min\n{domains}variables:\n{names}constraints:\n{text}"


def _network(size: int, variable: str, table: Callable[[str, list[str], list[list[str]]], str]) -> str:
    rng, parts, length, count = random.Random(0), list[str](), 0, 0
    while length < size:
        parents = [f"node{count - 1}", f"node{count - 2}"][: min(count, 2)]
        rows = list(_chances(rng, 3 ** len(parents), 3))
        parts += [variable.format(count), table(f"node{count}", parents, rows)]
        length += len(parts[-1]) + len(parts[-2])
        count += 1
    return "".join(parts)


def _bif(size: int) -> str:
    def table(name: str, parents: list[str], rows: list[list[str]]) -> str:
        if not parents:
            return f"probability ( {name} ) {{\n  table {', '.join(rows[0])};\n}}\n"
        places = [f"s{i // 3 % 3}, s{i % 3}" if len(parents) == 2 else f"s{i}" for i in range(len(rows))]
        lines = "".join(f"  ({place}) {', '.join(row)};\n" for place, row in zip(places, rows, strict=True))
        return f"probability ( {name} | {', '.join(parents)} ) {{\n{lines}}}\n"

    return "network n {\n}\n" + _network(
        size, "variable node{} {{\n  type discrete [ 3 ] {{ s0, s1, s2 }};\n}}\n", table
    )


def _xmlbif(size: int) -> str:
    states = "".join(f"<OUTCOME>s{i}</OUTCOME>" for i in range(3))

    def table(name: str, parents: list[str], rows: list[list[str]]) -> str:
        given = "".join(f"<GIVEN>{one}</GIVEN>" for one in parents)
        numbers = " ".join(" ".join(row) for row in rows)
        return f"<DEFINITION><FOR>{name}</FOR>{given}<TABLE>{numbers}</TABLE></DEFINITION>\n"

    body = _network(size, f"<VARIABLE><NAME>node{{}}</NAME>{states}</VARIABLE>\n", table)
    return f"<BIF><NETWORK><NAME>n</NAME>\n{body}</NETWORK></BIF>"


def _wcnf(size: int) -> str:
    rng, parts, length = random.Random(0), list[str](), 0
    while length < size:
        literals = " ".join(str(rng.choice((-1, 1)) * one) for one in rng.sample(range(1, size // 80 + 9), 3))
        parts.append(f"{'h' if rng.random() < 0.5 else rng.randrange(1, 99)} {literals} 0\n")
        length += len(parts[-1])
    return "".join(parts)


def _terms(size: int, first: int) -> tuple[int, int, str]:
    rng, variables = random.Random(0), size // 60 + 9
    parts, length = list[str](), 0
    while length < size:
        i, j = sorted(rng.sample(range(first, variables + first), 2))
        parts.append(f"{i} {j} {rng.randrange(-99, 100)}\n")
        length += len(parts[-1])
    return variables, len(parts), "".join(parts)


def _qubo(size: int) -> str:
    variables, count, text = _terms(size, 0)
    return f"p qubo 0 {variables} 0 {count}\n{text}"


def _sized(size: int) -> str:
    variables, count, text = _terms(size, 1)
    return f"{variables} {count}\n{text}"


TYPICAL: dict[str, tuple[str, Callable[[int], str]]] = {
    "wcsp, domain 10": ("wcsp", lambda n: _wcsp(n, 10)),
    "wcsp, domain 2": ("wcsp", lambda n: _wcsp(n, 2)),
    "cfn, domain 10": ("cfn", lambda n: _cfn(n, 10)),
    "cfn, domain 2": ("cfn", lambda n: _cfn(n, 2)),
    "uai, domain 10": ("uai", lambda n: _uai(n, 10)),
    "uai, domain 2": ("uai", lambda n: _uai(n, 2)),
    "lg, domain 4": ("lg", lambda n: _uai(n, 4, logarithms=True)),
    "xml, domain 10": ("xml", lambda n: _xml(n, 10)),
    "xml, domain 2": ("xml", lambda n: _xml(n, 2)),
    "yaml, domain 10": ("yaml", lambda n: _yaml(n, 10)),
    "bif": ("bif", _bif),
    "xmlbif": ("xmlbif", _xmlbif),
    "wcnf": ("wcnf", _wcnf),
    "qubo": ("qubo", _qubo),
    "coo": ("coo", lambda n: _terms(n, 0)[2]),
    "mc": ("mc", _sized),
    "bq": ("bq", _sized),
}
"""Name → format, and a file with so many bytes or a little more."""
