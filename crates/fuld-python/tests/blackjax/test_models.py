"""The models of BlackJAX's own tests of its samplers, with their tolerances."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
stats = pytest.importorskip("jax.scipy.stats")
blackjax = pytest.importorskip("blackjax")

from fuld.blackjax import fuld  # noqa: E402


def draws(algorithm, key, state, count):
    def one_step(state, key):
        state, info = algorithm.step(key, state)
        return state, (state.position, info)

    return jax.lax.scan(one_step, state, jax.random.split(key, count))[1]


@pytest.mark.parametrize("alpha", [1.0, 1.5, 1.8, 2.0])
def test_univariate_normal(alpha):
    """Mean 1 and variance 4 to a tenth: 4 standard errors or more of 20,000 draws."""
    algorithm = fuld(lambda x: stats.norm.logpdf(x, 1.0, 2.0), alpha, 1.5, 3)
    x, _ = draws(algorithm, jax.random.key(12), algorithm.init(3.0), 20_000)
    np.testing.assert_allclose(np.mean(x), 1.0, rtol=0.1)
    np.testing.assert_allclose(np.var(x), 4.0, rtol=0.1)


@pytest.mark.parametrize("alpha", [1.5, 1.8])
@pytest.mark.parametrize("diagonal", [True, False])
def test_linear_regression_with_window_adaptation(alpha, diagonal):
    """1000 points of y = 3x + noise of scale 1: slope and scale to 0.1, 3 posterior deviations."""
    key_x, key_noise, key_warmup, key = jax.random.split(jax.random.key(19), 4)
    x = jax.random.normal(key_x, (1000,))
    y = 3 * x + jax.random.normal(key_noise, (1000,))

    def logdensity(position):
        scale = jnp.exp(position["log_scale"])
        return (
            stats.expon.logpdf(scale)
            + position["log_scale"]
            + stats.norm.logpdf(position["slope"], 0, 5)
            + jnp.sum(stats.norm.logpdf(y, position["slope"] * x, scale))
        )

    warmup = blackjax.window_adaptation(
        fuld, logdensity, diagonal, num_integration_steps=20, alpha=alpha
    )
    start = {"log_scale": 0.0, "slope": 4.0}
    (state, parameters), _ = warmup.run(key_warmup, start, 1000)
    assert parameters["alpha"] == alpha
    position, info = draws(fuld(logdensity, **parameters), key, state, 3000)
    np.testing.assert_allclose(np.mean(np.exp(position["log_scale"])), 1.0, atol=0.1)
    np.testing.assert_allclose(np.mean(position["slope"]), 3.0, atol=0.1)
    # The posterior's own deviations, 1/√1000 and 1/√2000, to a fifth.
    np.testing.assert_allclose(np.std(position["slope"]), 1000**-0.5, rtol=0.2)
    np.testing.assert_allclose(np.std(position["log_scale"]), 2000**-0.5, rtol=0.2)
    # The adaptation aims at 0.8, and reaches more where the acceptance depends little on the step.
    assert 0.65 < np.mean(info.acceptance_rate) < 0.99
