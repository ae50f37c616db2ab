"""Stochastic gradients whose noise is taken for a part of the driving noise, and decreasing steps.

Errors are standard errors over chains; five of them are exceeded with probability 6e-7.
"""

import math
from typing import Any

import fuld
import numpy as np
import pytest

ALPHA, SIGMA = 1.6, 2.0
LAW = fuld.SymmetricStable(ALPHA, scale=SIGMA)
#: E x^2 of exp(-x^4/4 + x^2/2)
EXACT = 1.0417616


def noisy_well(x, words):
    """The double well of all chains; the words choose the noise of the gradients."""
    # Uniform on (0, 1), of the 52 highest bits.
    uniform = ((words >> np.uint64(12)).astype(float) + 0.5) / 2**52
    x = x[:, 0]
    return x**4 / 4 - x**2 / 2, (x**3 - x + LAW.ppf(uniform))[:, None]


SETTINGS: dict[str, Any] = {
    "stochastic": True, "vectorized": True, "alpha": ALPHA, "step": 0.04, "chains": 512,
    "warmup": 250, "thin": 10, "draws": 200, "seed": 3, "progress": False,
}  # fmt: skip


def second_moment(samples, weights=None):
    """E x^2 and its standard error."""
    chains = np.average(samples["x"] ** 2, axis=1, weights=weights)
    return chains.mean(), chains.std() / math.sqrt(len(chains))


def test_known_noise_causes_no_bias():
    known = fuld.sample(noisy_well, noise_scale=SIGMA, **SETTINGS)
    mean, error = second_moment(known)
    assert abs(mean - EXACT) < 5 * error + 0.002  # the bias of the step
    assert known.settings["noise_scale"] == SIGMA
    assert known.settings["exact"] == 1
    unknown = fuld.sample(noisy_well, **SETTINGS)
    mean, error = second_moment(unknown)
    assert mean - EXACT > 6 * error
    assert unknown.settings["exact"] == 0
    assert "noise_scale" not in unknown.settings


def test_zero_is_the_default():
    few = SETTINGS | {"chains": 4, "draws": 5}
    plain, zero = (fuld.sample(noisy_well, noise_scale=of, **few) for of in (None, 0.0))
    assert np.array_equal(plain["x"], zero["x"])


def test_weighted_averages_with_decreasing_steps():
    """The weights of the paper's Corollary 1 are the steps."""
    falling = SETTINGS | {"step_power": 0.5, "half_life": 100.0}
    samples = fuld.sample(noisy_well, noise_scale=SIGMA, **falling)
    k = falling["warmup"] + falling["thin"] * (1 + np.arange(falling["draws"])) - 1
    mean, error = second_moment(samples, 0.04 * (1 + k / 100) ** -0.5)
    assert abs(mean - EXACT) < 5 * error + 0.002


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"noise_scale": -1.0}, "noise_scale must be finite and not negative, got -1"),
        ({"noise_scale": 30.0}, "step must be at most 0.00[0-9]*, got 0.04: the gradient noise"),
        ({"noise_scale": 1.0, "integrator": "exact"}, "cannot be used with exact sampling"),
        ({"noise_scale": 1.0, "system": "fuld-gaussian"}, "fuld-gaussian at alpha = 2 only"),
        ({"noise_scale": 1.0, "system": "uncorrected-overdamped"}, "has no noise_scale"),
    ],
)
def test_noise_that_cannot_be_taken_is_refused(settings, text):
    with pytest.raises(ValueError, match=text):
        fuld.sample(noisy_well, **(SETTINGS | settings))


def test_exact_gradients_have_no_noise():
    with pytest.raises(ValueError, match="`noise_scale` requires stochastic gradients"):
        fuld.sample("x^2/2", integrator="baoab", noise_scale=0.1, progress=False)


def test_noise_scale_is_a_number():
    with pytest.raises(TypeError, match="noise_scale must be a number, got 'auto'"):
        fuld.sample(noisy_well, **(SETTINGS | {"noise_scale": "auto"}))
