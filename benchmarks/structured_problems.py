"""Problems shaped like the real ones that weighted constraint solvers are judged by, with fresh numbers.

- ``frequencies``: a channel for each radio link (domains of about 40 frequencies in four bands); links of a pair are a
  fixed distance apart, neighbours in the plane more than a distance that falls with theirs. Every distance is crisp, or
  costs a weight when it is not kept (1 to 1,000 as in CELAR's scen06, 1 to 1,000,000 as in its scen07).
- ``satellite``: pictures to take with one of three cameras or to leave out for a price, as in SPOT5: neighbours in time
  exclude some pairs of cameras, and some triples do not fit the memory.
- ``pedigree``: genotypes of a population, each child's one allele from each parent (crisp, three variables), and prices
  for the observations that they contradict.
- ``protein``: rotamers of a backbone's residues, dense, real energies with clashes, domains of 5 to 60.
- ``places``: facilities to places, flow times distance (quadratic assignment): all variables must differ.
- ``tour``: the city at each time of a round trip through the plane; all variables must differ.
"""

from __future__ import annotations

import itertools

import numpy as np

from dabp.problem import Problem

PAIR_DISTANCE = 238
"""Between the two frequencies of a link, as in CELAR's scenarios."""


def _problem(sizes: np.ndarray, factors: list[tuple[tuple[int, ...], np.ndarray]], name: str) -> Problem:
    arities = [len(scope) for scope, _ in factors]
    return Problem(
        sizes,
        np.array([variable for scope, _ in factors for variable in scope]),
        np.concatenate([[0], np.cumsum(arities)]),
        np.concatenate([table.ravel() for _, table in factors]),
        np.concatenate([[0], np.cumsum([table.size for _, table in factors])]),
        name=name,
    )


def frequencies(seed: int, *, links: int = 100, weights: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)) -> Problem:
    """Pairs of links in the plane; about eleven neighbours each."""
    rng = np.random.default_rng([seed, 0xCE1])
    band = np.concatenate([np.arange(start, start + 14 * 11, 14) for start in (16, 254, 414, 652)])
    domains = []
    for _ in range(links):  # a partner is a fixed distance away, and there is one for each frequency
        own = band[rng.random(len(band)) > 0.1]
        domains += [own, band[(np.abs(own[:, None] - band) == PAIR_DISTANCE).any(axis=0)]]
    place = np.repeat(rng.random((links, 2)), 2, axis=0) + 0.01 * rng.normal(size=(2 * links, 2))
    factors: list[tuple[tuple[int, ...], np.ndarray]] = []
    radius = (11 / (np.pi * 2 * links)) ** 0.5
    for i, j in itertools.combinations(range(2 * links), 2):
        apart = np.abs(domains[i][:, None] - domains[j][None, :])
        away = float(np.hypot(*(place[i] - place[j])))
        if j == i + 1 and i % 2 == 0:
            factors.append(((i, j), np.where(apart == PAIR_DISTANCE, 0.0, np.inf)))
        elif away < radius:
            wanted = 14.0 * rng.integers(1, 2 + int(12 * (1.0 - away / radius)))
            factors.append(((i, j), np.where(apart > wanted, 0.0, float(rng.choice(weights)))))
    return _problem(np.array([len(domain) for domain in domains]), factors, f"frequencies {links} ({seed})")


def satellite(seed: int, *, pictures: int = 300) -> Problem:
    """Single pictures have three cameras, stereo ones a single way; values: left out, then the ways."""
    rng = np.random.default_rng([seed, 0x5B07])
    stereo = rng.random(pictures) < 0.15
    sizes = np.where(stereo, 2, 4)
    prices = rng.choice([1.0, 2.0, 10.0, 100.0, 1000.0], size=pictures, p=[0.25, 0.25, 0.2, 0.2, 0.1])
    factors: list[tuple[tuple[int, ...], np.ndarray]] = [
        ((i,), np.where(np.arange(sizes[i]) == 0, prices[i], 0.0)) for i in range(pictures)
    ]
    for i in range(pictures):
        for j in range(i + 1, min(i + 12, pictures)):
            if rng.random() < 0.7:
                table = np.zeros((sizes[i], sizes[j]))
                table[1:, 1:] = np.where(rng.random((sizes[i] - 1, sizes[j] - 1)) < 0.45, np.inf, 0.0)
                if np.isinf(table).any():
                    factors.append(((i, j), table))
    for _ in range(pictures // 2):
        first = int(rng.integers(0, pictures - 12))
        chosen = np.sort(rng.choice(np.arange(first, first + 12), 3, replace=False))
        table = np.zeros(tuple(sizes[chosen]))
        table[1:, 1:, 1:] = np.inf
        factors.append((tuple(chosen.tolist()), table))
    return _problem(sizes, factors, f"satellite {pictures} ({seed})")


def pedigree(seed: int, *, people: int = 400, alleles: int = 4) -> Problem:
    """Founders first; observed genotypes are wrong now and then."""
    rng = np.random.default_rng([seed, 0x9ED])
    pairs = [(a, b) for a in range(alleles) for b in range(a, alleles)]
    child = np.full((len(pairs),) * 3, np.inf)
    for (f, father), (m, mother) in itertools.product(enumerate(pairs), enumerate(pairs)):
        for a, b in itertools.product(father, mother):
            child[f, m, pairs.index((min(a, b), max(a, b)))] = 0.0
    founders = people // 5
    truth = np.zeros(people, dtype=np.int64)
    factors: list[tuple[tuple[int, ...], np.ndarray]] = []
    for i in range(people):
        if i < founders:
            truth[i] = rng.integers(len(pairs))
            continue
        father, mother = rng.choice(np.arange(max(0, i - 120), i), 2, replace=False)
        options = np.flatnonzero(np.isfinite(child[truth[father], truth[mother]]))
        truth[i] = rng.choice(options)
        factors.append(((int(father), int(mother), i), child))
    for i in range(people):
        if rng.random() < 0.7:
            seen = int(truth[i]) if rng.random() < 0.85 else int(rng.integers(len(pairs)))
            factors.append(((i,), np.where(np.arange(len(pairs)) == seen, 0.0, float(rng.integers(1, 10)))))
    return _problem(np.full(people, len(pairs)), factors, f"pedigree {people} ({seed})")


def protein(seed: int, *, residues: int = 45) -> Problem:
    """Residues on a random walk; energies fall with distance, and a few pairs of rotamers clash."""
    rng = np.random.default_rng([seed, 0x9407])
    sizes = np.clip(np.exp(rng.uniform(np.log(5), np.log(60), residues)), 5, 60).astype(np.int64)
    steps = rng.normal(size=(residues, 3))
    place = np.cumsum(3.8 * steps / np.linalg.norm(steps, axis=1, keepdims=True), axis=0)
    factors: list[tuple[tuple[int, ...], np.ndarray]] = [
        ((i,), rng.gamma(1.5, 2.0, size=sizes[i])) for i in range(residues)
    ]
    for i, j in itertools.combinations(range(residues), 2):
        away = float(np.linalg.norm(place[i] - place[j]))
        if away < 12.0:
            table = rng.normal(-0.5, 2.0, size=(sizes[i], sizes[j])) * np.exp(-away / 6.0)
            clash = rng.random(table.shape) < 0.25 * np.exp(-away / 3.0)
            factors.append(((i, j), np.where(clash, rng.uniform(10.0, 500.0, table.shape), table)))
    return _problem(sizes, factors, f"protein {residues} ({seed})")


def places(seed: int, *, count: int = 40) -> Problem:
    """Flows of 0 to 9 between facilities, distances of 0 to 18 between places."""
    rng = np.random.default_rng([seed, 0x9A9])
    flows, distances = rng.integers(0, 10, (count, count)), rng.integers(0, 10, (count, count))
    distances = distances + distances.T
    factors: list[tuple[tuple[int, ...], np.ndarray]] = [
        ((i, j), np.where(np.eye(count), np.inf, flows[i, j] * distances)) for i in range(count) for j in range(i)
    ]
    return _problem(np.full(count, count), factors, f"places {count} ({seed})")


def tour(seed: int, *, cities: int = 60) -> Problem:
    """Distances of cities in the plane, rounded."""
    rng = np.random.default_rng([seed, 0x707])
    city = 1000 * rng.random((cities, 2))
    distances = np.rint(np.hypot(*(city[:, None] - city[None]).transpose(2, 0, 1)))
    far = np.where(np.eye(cities), np.inf, 0.0)
    factors: list[tuple[tuple[int, ...], np.ndarray]] = [
        ((i, j), far + (distances if j - i in (1, cities - 1) else 0.0))
        for i, j in itertools.combinations(range(cities), 2)
    ]
    return _problem(np.full(cities, cities), factors, f"tour {cities} ({seed})")


STRUCTURED = {
    "frequencies-1000": lambda seed: frequencies(seed),
    "frequencies-million": lambda seed: frequencies(seed, weights=(1.0, 100.0, 1e4, 1e6)),
    "frequencies-crisp": lambda seed: frequencies(seed, weights=(1.0, 10.0, 100.0, np.inf)),
    "satellite": satellite,
    "pedigree": pedigree,
    "protein": protein,
    "places": places,
    "tour": tour,
}
