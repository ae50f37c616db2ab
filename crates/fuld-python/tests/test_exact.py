"""Exact sampling: right at any step, adapted by itself, with statistics of every draw."""

from typing import Any

import fuld
import numpy as np
import pytest

SETTINGS: dict[str, Any] = {"integrator": "exact", "output": "xarray"}


def test_gamma_distribution_on_the_half_line():
    """f is NaN beyond 0, where half of the random starts would be."""
    draws = fuld.sample("x - log(x)", seed=1, **SETTINGS)["x"].to_numpy()
    # 4 standard errors over 64 chains: false alarms in 6 of 100,000 cases.
    for value, exact in ((draws, 2.0), ((draws - 2) ** 2, 2.0)):
        means = value.mean(axis=1)
        assert abs(means.mean() - exact) < 4 * means.std(ddof=1) / 8
    assert (draws > 0).all()


def test_a_function_is_adapted_from_afar():
    """A linear regression, 2000 observations, from a start tens of standard deviations away."""
    random = np.random.default_rng(0)
    x = np.column_stack([np.ones(2000), random.normal(10, 3, 2000)])
    y = x @ [50.0, -3.0] + random.normal(size=2000)
    square, product = x.T @ x, x.T @ y

    def potential(w):
        slope = w @ square - product
        return 0.5 * (w * (slope - product)).sum(axis=1), slope

    result = fuld.sample(potential, dim=2, vectorized=True, seed=2, **SETTINGS)
    draws, covariance = result["x"].to_numpy(), np.linalg.inv(square)
    error = draws.mean(axis=(0, 1)) - covariance @ product
    assert (abs(error) < 0.1 * np.sqrt(np.diag(covariance))).all()
    assert draws.std(axis=(0, 1)) == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.05)
    assert result.attrs["adapt"] == 1
    assert result.attrs["scales"] == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.5)


def test_arviz_has_the_statistics(tmp_path):
    pytest.importorskip("arviz")
    settings: dict[str, Any] = {"chains": 4, "draws": 50, "warmup": 60, "output": "arviz"}
    first = fuld.sample("x^2/2", store=tmp_path / "s", **settings)
    again = fuld.sample("x^2/2", store=tmp_path / "s", resume=True, **settings)
    for result in (first, again):
        statistics, x = result["sample_stats"], result["posterior"]["x"].to_numpy()
        assert statistics["lp"].to_numpy() == pytest.approx(-(x**2) / 2)
        assert statistics["diverging"].dtype == bool
        assert 0.5 < float(statistics["acceptance_rate"].mean()) < 1.0
        assert (statistics["energy"].to_numpy() > 0).all()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="`adapt` requires the integrator exact, got baoab"):
        fuld.sample("x^2/2", adapt=True, integrator="baoab")
    with pytest.raises(ValueError, match="path must be finite and not negative, got -1"):
        fuld.sample("x^2/2", path=-1, **SETTINGS)
    with pytest.raises(ValueError, match="leave the law of v invariant"):
        fuld.sample("x^2/2", system="uncorrected", **SETTINGS)
