"""Default settings give right answers on ordinary targets, or a warning.

Bounds are five Monte Carlo standard errors or more: each fails by chance once in a million seeds.
"""

import warnings

import fuld
import numpy as np
import pytest


def trusted(potential, **settings):
    """Draws of a run that must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fuld.sample(potential, output="numpy", seed=1, **settings)["x"]


def warned(match, potential, **settings):
    """Draws of a run that must warn."""
    with pytest.warns(fuld.SamplingWarning, match=match):
        return fuld.sample(potential, output="numpy", seed=1, **settings)["x"]


def test_a_half_line_is_not_left():
    # f is not a number beyond the wall: proposals that hit it are rejected.
    x = warned("f was not finite at", "x - log(x)", start=1.0)
    assert (x > 0).all()
    assert x.mean() == pytest.approx(2.0, abs=0.06)
    assert x.std() == pytest.approx(2**0.5, rel=0.05)


def test_random_starts_on_a_half_line_are_drawn_again():
    x = warned("f was not finite at", "x - log(x)")
    assert x.mean() == pytest.approx(2.0, abs=0.06)

    def gamma(x):
        return np.where(x > 0, x - np.log(np.abs(x)), np.nan)[:, 0], 1 - 1 / x

    x = warned("f was not finite at", gamma, dim=1, vectorized=True)
    assert x.mean() == pytest.approx(2.0, abs=0.06)


@pytest.mark.parametrize("step", [2.0, 5.0])
def test_long_steps_cause_no_bias(step):
    x = trusted("x^4/4", alpha=1.5, step=step)
    assert x.std() == pytest.approx(0.8222, rel=0.02)
    # A step that is kept is not efficient, but not wrong either.
    x = fuld.sample("x^4/4", step=step, adapt=False, path=0, seed=1, output="numpy")["x"]
    assert x.std() == pytest.approx(0.8222, rel=0.1)


def test_narrow_targets_need_no_settings():
    assert trusted("x^2/0.0018").std() == pytest.approx(0.03, rel=0.02)


def test_the_start_may_be_far_away():
    x = trusted("x^2/2", start=100.0)
    assert np.abs(x).max() < 7
    assert x.std() == pytest.approx(1.0, rel=0.02)


def test_a_linear_regression_starts_anywhere():
    rng = np.random.default_rng(0)
    design = np.stack(
        [np.ones(2000), 10 + 3 * rng.normal(size=2000), rng.normal(size=2000)], axis=1
    )
    data = design @ [50.0, -3.0, 2.0] + 1.5 * rng.normal(size=2000)
    precision = design.T @ design / 1.5**2
    mean = np.linalg.solve(design.T @ design, design.T @ data)
    sd = np.sqrt(np.diag(np.linalg.inv(precision)))

    def misfit(x):
        away = x - mean
        return 0.5 * np.einsum("ci,ij,cj->c", away, precision, away), away @ precision

    x = trusted(misfit, dim=3)
    np.testing.assert_array_less(np.abs(x.mean(axis=(0, 1)) - mean) / sd, 0.05)
    np.testing.assert_allclose(x.std(axis=(0, 1)), sd, rtol=0.05)


@pytest.mark.parametrize("potential", ["-x^2/2", "x"])
def test_densities_that_cannot_be_normalised_warn(potential):
    warned("cannot be normalised", potential, draws=200)


def test_a_function_without_a_minimum_warns():
    warned("R-hat above", lambda x: (-(x**2).sum(-1) / 2, -x), dim=1, draws=200)


def test_modes_that_are_not_left_warn():
    formula = "-log(0.3*exp(-(x-4)^2/2) + 0.7*exp(-(x+4)^2/2))"
    assert np.isfinite(warned("R-hat above", formula)).all()


def test_a_funnel_is_right_or_warns():
    warned("do not trust these numbers", "funnel")


def test_few_draws_warn():
    warned("fewer than 400 effective draws", "x^2/2", chains=2, draws=50)


def test_the_gradient_of_a_mode_is_not_suspected():
    trusted(lambda x: (((x - 1e3) ** 2).sum(-1) / 2, x - 1e3), dim=1, start=1e3)
