"""Hard global functions as toulbar2's own: implied by the tables, but its propagation sees them as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dabp.problem.globals import AllDifferent, Posted, Sum

MOST_NUMBERS = 1_000_000
"""Parameters that are handed over at most."""

Post = tuple[list[int], str, str]
"""Variables, keyword, parameters."""


def global_posts(statements: Sequence[Posted]) -> list[Post]:
    """The posts of hard statements: all-different on values, and sums within bounds."""
    posts: list[Post] = []
    left = MOST_NUMBERS
    for posted in statements:
        if not posted.function.hard:
            continue
        for post in _posts(posted):
            left -= post[2].count(" ")
            if left < 0:
                return posts
            posts.append(post)
    return posts


def _posts(posted: Posted) -> Iterator[Post]:
    function = posted.function
    if isinstance(function, AllDifferent):
        plain = all(np.array_equal(own, np.arange(len(own))) for own in posted.symbols)
        if plain and len(posted.scope) > 2 and min(posted.scope) >= 0:
            excepted = " ".join(map(str, (len(function.excepted), *function.excepted)))
            yield list(posted.scope), "alldiff", f"{excepted} 0"
        return  # others are sets of values of which one can be taken
    for one in function.sums(posted.symbols) or ():
        if not one.judge.different:
            for sign, bound in ((1, one.judge.first), (-1, one.judge.last)):
                if bound is not None:
                    yield from _knapsack(posted.scope, one, sign, sign * bound)


def _knapsack(scope: Sequence[int], one: Sum, sign: int, bound: int) -> Iterator[Post]:
    """A sum of at least a bound over the variables whose terms differ, if it can be missed."""
    variables, lists = list[int](), list[str]()
    for variable, own in zip(scope, one.terms, strict=True):
        term = sign * own
        low = int(term.min())
        bound -= low
        if variable >= 0 and term.max() > low:
            values = np.flatnonzero(term > low).tolist()
            variables.append(variable)
            lists.append(f"{len(values)} " + " ".join(f"{value} {int(term[value]) - low}" for value in values))
    if bound > 0 and len(variables) > 2:
        yield variables, "knapsackp", f"{bound} {' '.join(lists)}"
