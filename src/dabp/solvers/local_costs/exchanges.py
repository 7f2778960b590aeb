"""Which variables must all differ, so that a local search may exchange their values.

Files and models state it pair by pair (all-different, orders, assignments of tasks to places): two variables of which
each value excludes at most one of the other's. Here cliques of such pairs are found.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.exchange import Sets
from dabp.presolve.exclusion import bits, conflicts, members_of
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, distinct, offsets_of
from dabp.problem.facts import derived

MOST_CONFLICTS = 2_000_000
"""Forbidden pairs of values beyond which no cliques are looked for."""

SMALLEST = 5
"""Members of a clique at least."""

FULL = 0.5
"""The part of its values that a clique must take at least: with many to spare, changing one variable is as good."""


class Clique(NamedTuple):
    """Variables that must all differ."""

    members: Indices
    value: NDArray[np.int64]  # each member's value of each label, −1 if it has none, [members, labels]
    alone: bool  # whether nothing else is forbidden to them by factors of two variables


class _Conflicts(NamedTuple):
    """Values that exclude each other, numbered through all domains; both ways round."""

    first: Indices
    second: Indices
    owner: Indices  # the variable of each value
    degree: Indices  # how many conflicts each variable has, those left out here included


def exchange_sets(problem: Problem, starts: Indices, allowed: NDArray[np.bool_]) -> Sets | None:
    """The sets, or None if there are none; a variable's values begin at `starts` in the places of `allowed`."""
    found = derived(problem, labelled_cliques)
    if not found:
        return None
    count = problem.num_variables
    of, value_at = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    label, only = np.full(len(allowed), -1, dtype=np.int64), np.zeros(count, dtype=bool)
    length = 0
    for number, clique in enumerate(found):
        members, value = clique.members, clique.value
        of[members] = number
        value_at[members] = length + np.arange(len(members)) * value.shape[1]
        length += value.size
        holder, named = np.nonzero(value >= 0)
        places = starts[members[holder]] + value[holder, named]
        label[places] = named
        # In a set that takes all values there are, no variable can move alone.
        only[members] = clique.alone and len(members) == value.shape[1] and len(places) == value.size
        only[members] &= bool(allowed[places].all())
    sizes = np.array([len(clique.members) for clique in found])
    return Sets(
        of,
        offsets_of(sizes),
        np.concatenate([clique.members for clique in found]),
        label,
        value_at,
        np.concatenate([clique.value.ravel() for clique in found]),
        only,
    )


def all_different(sets: Sets, starts: Indices, assignment: Assignment) -> Assignment:
    """The assignment with each value that an earlier member of a set has replaced by one that none has, if there is."""
    values = np.array(assignment, dtype=np.int64)
    for start, end in itertools.pairwise(sets.offsets.tolist()):
        members = sets.members[start:end]
        labels = sets.label[starts[members] + values[members]]
        different, first = np.unique(labels, return_index=True)
        taken = set(different.tolist())
        width = int(np.diff(sets.value_at[sets.members[start : start + 2]])[0])  # the labels of the set
        for k in sorted(set(range(len(members))) - set(first.tolist())):
            i = int(members[k])
            own = sets.value[sets.value_at[i] : sets.value_at[i] + width]
            free = [each for each in np.flatnonzero(own >= 0).tolist() if each not in taken]
            if free:
                taken.add(free[0])
                values[i] = own[free[0]]
    return values


def labelled_cliques(problem: Problem) -> list[Clique]:
    """Disjoint cliques, those of variables with most conflicts first.

    Variables of wide factors are left out: what an exchange costs is known from pairs only.
    """
    known = _known(problem)
    if known is None:
        return []
    return [found for clique in _cliques(known) if (found := _labelled(problem, known, clique)) is not None]


def _known(problem: Problem) -> _Conflicts | None:
    """Conflicts between variables of which each value excludes at most one of the other's, in no wide factor."""
    first, second = conflicts(problem, MOST_CONFLICTS)
    if not len(first):
        return None
    owner = np.repeat(np.arange(problem.num_variables), problem.domain_sizes)
    wide = np.zeros(problem.num_variables, dtype=bool)
    wide[problem.scope_variables[np.repeat(problem.arities > 2, problem.arities)]] = True
    usable = ~(wide[owner[first]] | wide[owner[second]])
    first, second = first[usable], second[usable]
    pairs = distinct(np.concatenate([first * len(owner) + second, second * len(owner) + first]))
    first, second = np.divmod(pairs, len(owner))
    count = problem.num_variables
    degree = np.bincount(owner[first], minlength=count)
    # Sorted by the first value: a next conflict with the same variable says that they do not merely differ.
    again = (first[1:] == first[:-1]) & (owner[second[1:]] == owner[second[:-1]])
    spoilt = distinct((owner[first] * count + owner[second])[1:][again])
    spoilt = np.union1d(spoilt, spoilt % count * count + spoilt // count)
    kept = ~np.isin(owner[first] * count + owner[second], spoilt)
    first, second = _crowded(problem, owner, first[kept], second[kept])
    if not len(first) or len(distinct(owner[first])) > 3_000:
        return None
    return _Conflicts(first, second, owner, degree)


def _crowded(problem: Problem, owner: Indices, first: Indices, second: Indices) -> tuple[Indices, Indices]:
    """The conflicts of variables with as many neighbours as a clique has members, others left out repeatedly."""
    wanted = np.maximum(SMALLEST, np.ceil(FULL * problem.domain_sizes)) - 1
    for _ in range(20):
        pairs = distinct(owner[first] * problem.num_variables + owner[second])
        enough = np.bincount(pairs // problem.num_variables, minlength=problem.num_variables) >= wanted
        kept = enough[owner[first]] & enough[owner[second]]
        if kept.all():
            break
        first, second = first[kept], second[kept]
    return first, second


def _cliques(known: _Conflicts) -> list[Indices]:
    """Disjoint cliques of variables that differ, grown greedily, those with most neighbours first."""
    variables = distinct(known.owner[known.first])
    number = np.zeros(len(known.owner), dtype=np.int64)
    number[variables] = np.arange(len(variables))
    ends = distinct(number[known.owner[known.first]] * len(variables) + number[known.owner[known.second]])
    source, target = np.divmod(ends, len(variables))
    neighbours = [bits(part, len(variables)) for part in np.split(target, np.bincount(source).cumsum()[:-1])]
    free, cliques = (1 << len(variables)) - 1, []
    for seed in sorted(range(len(variables)), key=lambda each: -neighbours[each].bit_count()):
        if not free >> seed & 1:
            continue
        clique, candidates = [seed], neighbours[seed] & free
        while candidates:
            few = itertools.islice(members_of(candidates), 8)
            best = max(few, key=lambda each: (neighbours[each] & candidates).bit_count())
            clique.append(best)
            candidates &= neighbours[best]
        if len(clique) >= SMALLEST:
            free &= ~sum(1 << each for each in clique)
            cliques.append(variables[np.sort(clique)])
    return cliques


def _labelled(problem: Problem, known: _Conflicts, members: Indices) -> Clique | None:
    """A clique whose values that exclude each other have one label.

    None if there are too many labels, or if two values of one label do not exclude each other.
    """
    inside = np.zeros(problem.num_variables, dtype=bool)
    inside[members] = True
    chosen = inside[known.owner[known.first]] & inside[known.owner[known.second]]
    first, second = known.first[chosen], known.second[chosen]
    label = np.arange(len(known.owner))
    np.minimum.at(label, first, second)  # each value's least rival is the same for all of one label
    own = np.flatnonzero(inside[known.owner])
    labels, named = np.unique(np.minimum(label[own], own), return_inverse=True)
    if len(members) < FULL * len(labels):
        return None
    value = np.full((len(members), len(labels)), -1, dtype=np.int64)
    value[np.searchsorted(members, known.owner[own]), named] = own - offsets_of(problem.domain_sizes)[known.owner[own]]
    holders = np.bincount(named, minlength=len(labels))
    if np.count_nonzero(value >= 0) < len(own) or int((holders * (holders - 1)).sum()) != len(first):
        return None
    return Clique(members, value, len(first) == int(known.degree[members].sum()))
