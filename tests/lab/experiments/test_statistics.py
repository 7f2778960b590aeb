"""Statistics against counting, against SciPy called otherwise, and against recorded numbers."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
import scipy.stats

from dabp.errors import MissingPackageError
from dabp.lab.experiments.statistics import mean_interval, wilcoxon


def test_mean_interval_is_the_t_interval():
    """The half width in tables is SciPy's."""
    values = np.random.default_rng(0).normal(size=12)
    mean, half = mean_interval(values)
    low, high = scipy.stats.t.interval(0.95, 11, values.mean(), scipy.stats.sem(values))
    assert (mean - half, mean + half) == pytest.approx((low, high), abs=1e-9)
    assert np.isnan(mean_interval([1.0])[1])
    assert np.isnan(mean_interval([])[0])


@pytest.mark.parametrize("count", [5, 12, 30, 50])
def test_wilcoxon_is_exact_without_ties(count):
    """Small comparisons use the exact null distribution."""
    rng = np.random.default_rng(count)
    differences = rng.normal(0.3, 1.0, size=count)
    expected = scipy.stats.wilcoxon(differences, method="exact")
    ours = wilcoxon(differences)
    assert ours.exact
    assert ours.statistic == pytest.approx(expected.statistic)
    assert ours.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_wilcoxon_with_ties_and_zeros_counts_signs():
    """Equal and zero differences, common between solvers that find the same optimum, are treated exactly."""
    differences = np.array([1, 1, -1, 2, 0, 2, 3, -2, 0, 4.0])
    nonzero = differences[differences != 0]
    ranks = scipy.stats.rankdata(np.abs(nonzero))
    observed = min(ranks[nonzero > 0].sum(), ranks[nonzero < 0].sum())
    sums = [ranks[np.array(signs)].sum() for signs in itertools.product([False, True], repeat=len(nonzero))]
    expected = min(1.0, 2 * np.mean(np.array(sums) <= observed))
    assert wilcoxon(differences).p_value == pytest.approx(expected)
    assert wilcoxon(differences).pairs == 8


def test_wilcoxon_of_many_pairs_is_the_corrected_normal_approximation():
    """Beyond 50 pairs: ties and continuity corrected, as SciPy's asymptotic method."""
    differences = np.round(np.random.default_rng(1).normal(0.2, 1.0, size=120), 1)
    differences = differences[differences != 0]
    expected = scipy.stats.wilcoxon(differences, correction=True, method="asymptotic")
    ours = wilcoxon(differences)
    assert not ours.exact
    assert ours.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_wilcoxon_takes_rounding_noise_for_ties():
    """Costs over a number of constraints: equal differences that differ in the last bit rank as equals."""
    pairs = ((100, 99), (101, 100), (57, 58), (33, 32), (71, 70), (12, 13))
    noisy = [x / 45 - y / 45 for x, y in pairs]
    assert len({abs(d) for d in noisy}) > 1
    assert wilcoxon(noisy, 1e-9) == wilcoxon([x - y for x, y in pairs])
    assert wilcoxon([1e-12, 3.0], 1e-9).pairs == 1


def test_wilcoxon_of_equal_solvers_says_nothing():
    """No differing pair: p = 1, not an error."""
    assert wilcoxon([0.0, 0.0]).p_value == 1.0


RECORDED = (
    ([1, 1, -1, 2, 0, 2, 3, -2, 0, 4.0], 7.0, 0.1640625, 8, True),
    ([0.5, 1.5, -0.25, 3, 4.75], 1.0, 0.125, 5, True),
    ([-0.136, -0.87, 2.039, -0.196, 0.629, 0.041, 1.883, 1.62, 0.933, -1.904, 0.352, 0.984, 1.304, -0.318, 2.122,
      -1.02, -0.362, 1.235, 0.349, 2.302, 0.489, -0.333, -0.078, -0.791, -0.978], 108.0, 0.14847958087921143, 25, True),
    ([0.4, 0.2, 0.9, 0.4, -0.2, 0.7, 1.6, 1.2, -0.4, -1.0, -0.3, 0.3, -2.0, 0.1, -0.9, -0.4, -0.2, -0.0, 0.7, 1.3, 0.2,
      1.7, -0.4, 0.7, 1.2, 0.4, -0.4, -0.6, -0.2, 0.5, -0.7, 0.1, 0.1, 0.8, 0.5, 0.7, -0.4, 0.2, 1.1, 1.8, -1.0, 1.8,
      1.6, 1.1, 0.6, -0.0, 1.8, 2.3, 2.1, 1.6, 0.7, -0.9, 0.3, 1.0, -1.0, 0.7, 0.7, 1.0, -0.9, -0.4],
     475.0, 0.003226594605353018, 58, False),
)  # fmt: skip
"""Differences and what version 0.1.0, which counted by itself, said of them."""


@pytest.mark.parametrize(("differences", "statistic", "p_value", "pairs", "exact"), RECORDED)
def test_wilcoxon_says_what_it_always_said(differences, statistic, p_value, pairs, exact):
    """Published comparisons keep their numbers."""
    found = wilcoxon(differences)
    assert (found.statistic, found.pairs, found.exact) == (statistic, pairs, exact)
    assert found.p_value == pytest.approx(p_value, rel=1e-12)


def test_intervals_say_what_they_always_said():
    """The half widths of version 0.1.0."""
    assert mean_interval([1.0, 2.5, 4.0, 4.5, 9.0]) == pytest.approx((4.2, 3.7404805936204064), rel=1e-12)
    assert mean_interval([3.0, 4.0]) == pytest.approx((3.5, 6.353102368087338), rel=1e-12)


def test_without_scipy_one_sentence_says_what_to_install(monkeypatch):
    """Running experiments needs none, reading them does."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingPackageError, match=r"needs SciPy, .* `pip install 'dabp\[experiments\]'`"):
        wilcoxon([1.0, 2.0])
