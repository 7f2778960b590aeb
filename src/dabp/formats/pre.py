"""Pedigrees in Linkage's form (``.pre``), as toulbar2 reads them: the fewest wrong genotypes; see docs/formats/pre.md.

A line is ``locus individual father mother sex allele allele``; 0 is an unknown parent or allele. An individual that has
a genotype, or a descendant who has one, is a variable whose values are pairs of alleles. A child has one allele of each
parent; a genotype other than the given one costs 1, or is forbidden where the given alleles are negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.draft import Draft
from dabp.formats.text import Source, printable
from dabp.formats.tokens import Tokens
from dabp.problem import Problem

_COLUMNS = 7


class _Genotypes:
    """Pairs of alleles, the smaller one first, in order."""

    def __init__(self, alleles: list[int]):
        self.alleles = alleles
        self.low, self.high = np.triu_indices(len(alleles))

    @property
    def labels(self) -> list[str]:
        return [f"{self.alleles[i]}/{self.alleles[j]}" for i, j in zip(self.low, self.high, strict=True)]

    def carries(self, allele: int) -> NDArray[np.bool_]:
        """Whether each genotype has an allele."""
        number = self.alleles.index(allele)
        return np.asarray((self.low == number) | (self.high == number))

    def given(self, first: int, second: int) -> NDArray[np.bool_]:
        """Whether each genotype is the given one; an unknown allele may be any."""
        if not first or not second:
            return self.carries(first or second)
        if first != second:
            return self.carries(first) & self.carries(second)
        return np.asarray((self.low == self.high) & self.carries(first))

    def inherited(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether a parent can give a child its first allele, and its second one, [G, G] each."""
        has = [self.carries(allele) for allele in self.alleles]
        return np.array(has)[self.low].T, np.array(has)[self.high].T


def read(source: Source) -> Problem:
    """Parse a pedigree of one locus."""
    if not source.data.strip():
        raise source.empty()
    first = source.data.lstrip().split(b"\n", 1)[0]
    if len(first.split()) > _COLUMNS:
        raise source.error("it has several loci; only pedigrees of one are read, no haplotypes", 1)
    titled = Source(source.name, b"pedigree " + source.data, source.max_cells)
    titled.meter = source.meter
    tokens = Tokens(titled)
    if tokens.words:
        raise tokens.error("", min(tokens.words))
    if len(tokens) % _COLUMNS:
        raise tokens.error(f"lines of {_COLUMNS} integers were expected", len(tokens) - 1)
    numbers = tokens.take(len(tokens), "an integer")
    rows = numbers.reshape(-1, _COLUMNS)
    wrong = np.abs(numbers) >= 2**31
    if numbers.dtype == np.float64:
        wrong |= numbers != np.rint(numbers)
    wrong = wrong.reshape(rows.shape)
    wrong[:, 1] |= rows[:, 1] < 1
    wrong[:, 2:4] |= rows[:, 2:4] < 0
    if wrong.any():
        at = int(np.argmax(wrong))
        raise tokens.error(f"{numbers[at]:g} is no number of an individual or an allele", at)
    if (rows[:, 0] != rows[0, 0]).any():
        at = int(np.argmax(rows[:, 0] != rows[0, 0]))
        raise tokens.error("it has more than one locus", at * _COLUMNS)
    return _Pedigree(source, tokens, rows.astype(np.int64).tolist()).problem()


class _Pedigree:
    """Individuals by number: their parents and the line that defines them."""

    def __init__(self, source: Source, tokens: Tokens, rows: list[list[int]]):
        self.source, self.rows, self.tokens = source, rows, tokens
        self.row: dict[int, int] = {}
        for number, (_, individual, *_rest) in enumerate(rows):
            if individual in self.row:
                raise tokens.error(f"individual {individual} is defined twice", number * _COLUMNS + 1)
            self.row[individual] = number

    def problem(self) -> Problem:
        """A variable for each individual that matters, in the order in which they are named."""
        alleles = sorted({abs(allele) for row in self.rows for allele in row[5:]} - {0})
        if not alleles:
            raise self.source.error("no individual has a genotype", 1)
        self.source.meter.check_cells((len(alleles) * (len(alleles) + 1) // 2) ** 2)
        genotypes = _Genotypes(alleles)
        self._check_ancestors()
        relevant, draft = self._relevant(), Draft(self.source)
        domain = draft.domain([genotypes.labels])
        for individual in dict.fromkeys(one for row in self.rows for one in row[1:4] if one):
            if individual in relevant:
                draft.add_variable(f"X{individual}", domain)
        tables: dict[object, int] = {}
        first, second = genotypes.inherited()
        for row in self.rows:
            _, individual, father, mother, _, *pair = row
            if individual not in relevant:
                continue
            scope = [draft.index[f"X{one}"] for one in (father, mother, individual) if one]
            line = partial(self.tokens.line, self.row[individual] * _COLUMNS)
            if any(pair):
                key = (*sorted(map(abs, pair)), min(pair) < 0)
                if key not in tables:
                    cost = np.inf if key[2] else 1.0
                    tables[key] = draft.add_table(np.where(genotypes.given(*key[:2]), 0.0, cost), line)
                draft.add_factor(scope[-1:], tables[key])
            if len(scope) > 1:
                shape = draft.shape(scope, line)
                if len(shape) not in tables:
                    if len(shape) == 2:
                        allowed = first | second
                    else:
                        allowed = (first[:, None] & second[None]) | (second[:, None] & first[None])
                    tables[len(shape)] = draft.add_table(np.where(allowed, 0.0, np.inf), line)
                draft.add_factor(scope, tables[len(shape)])
        self.source.release()
        return draft.problem(printable(self.source.stem))

    def _parents(self, individual: int) -> list[int]:
        number = self.row.get(individual)
        return [] if number is None else [one for one in self.rows[number][2:4] if one]

    def _relevant(self) -> set[int]:
        """Individuals with a genotype, and their ancestors."""
        waiting = [row[1] for row in self.rows if any(row[5:])]
        found = set(waiting)
        while waiting:
            new = set(self._parents(waiting.pop())) - found
            found |= new
            waiting += new
        return found

    def _check_ancestors(self) -> None:
        """Refuse individuals who are their own ancestors: what is left when those without parents are removed."""
        children: dict[int, list[int]] = {}
        missing = {individual: len(self._parents(individual)) for individual in self.row}
        for individual in self.row:
            for parent in self._parents(individual):
                children.setdefault(parent, []).append(individual)
                missing.setdefault(parent, 0)
        done = [individual for individual, count in missing.items() if not count]
        for individual in done:
            for child in children.get(individual, ()):
                missing[child] -= 1
                if not missing[child]:
                    done.append(child)
        if len(done) < len(missing):
            odd = next(individual for individual, count in missing.items() if count)
            raise self.tokens.error(f"individual {odd} descends from itself", self.row[odd] * _COLUMNS + 1)


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Refuse: these files are read only."""
    raise FormatError("pedigrees are only read; .wcsp and .cfn are written")
