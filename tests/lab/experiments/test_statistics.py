"""Statistics against counting, and against SciPy called otherwise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

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
