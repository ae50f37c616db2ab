"""The velocities in JAX against the law itself."""

import numpy as np
import pytest
from fuld import SymmetricStable

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytest.importorskip("blackjax")

from fuld.blackjax._draws import velocities  # noqa: E402

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
COUNT = 200_000


def uniform_distance(u):
    """The Kolmogorov-Smirnov statistic, times the root of the number of draws."""
    u, n = np.sort(u), len(u)
    steps = np.arange(n + 1) / n
    return np.sqrt(n) * max(np.max(steps[1:] - u), np.max(u - steps[:-1]))


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.3, 1.8, 1.99, 2.0])
@pytest.mark.parametrize("dtype", [F32, F64])
def test_law(alpha, dtype):
    """In each case a distance of 2.69 is exceeded with probability 1e-6."""
    with jax.enable_x64(dtype == F64):
        drawn = velocities(jax.random.key(3), (COUNT,), alpha, dtype)
        assert drawn.dtype == dtype
    law = SymmetricStable.kinetic(alpha)
    v = np.asarray(drawn, np.float64)
    assert uniform_distance(law.cdf(v)) < 2.69
    # In the tail, a count that is Poisson of mean 20: outside these bounds with probability 5e-7.
    beyond = np.sum(2 * law.sf(np.abs(v)) < 20 / COUNT)
    assert 2 < beyond < 50


def test_a_traced_alpha_gives_the_same_draws():
    draw = jax.jit(lambda alpha: velocities(jax.random.key(5), (1000,), alpha, F32))
    for alpha in (0.5, 1.0, 1.5, 2.0):
        known = velocities(jax.random.key(5), (1000,), alpha, F32)
        np.testing.assert_allclose(draw(np.float32(alpha)), known, rtol=1e-4)


def test_continuous_in_alpha():
    def draw(alpha):
        return np.asarray(velocities(jax.random.key(6), (10_000,), alpha, F64))

    with jax.enable_x64(True):
        for alpha in (1 - 1e-9, 1 + 1e-9):
            np.testing.assert_allclose(draw(alpha), draw(1.0), rtol=1e-7)
        np.testing.assert_allclose(draw(2 - 1e-12), draw(2.0), rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.3, 1.8, 1.99, 2.0])
def test_far_tails_in_single_precision(alpha, monkeypatch):
    """Words of random sizes give draws of probabilities down to 2**-64: float32 has them too."""
    rng = np.random.default_rng(9)
    words = rng.integers(0, 2**32, (4, 50_000), np.uint32)
    words[::2] >>= rng.integers(0, 32, (2, 50_000), np.uint32)
    words[::2] ^= rng.integers(0, 2, (2, 50_000), np.uint32) << 31
    monkeypatch.setattr(jax.random, "bits", lambda key, shape, dtype: jnp.array(words))
    key = jax.random.key(0)
    single = np.asarray(velocities(key, (50_000,), alpha, F32), np.float64)
    with jax.enable_x64(True):
        double = np.asarray(velocities(key, (50_000,), alpha, F64))
    assert np.all(double != 0)
    finite = np.abs(double) < 3e38
    np.testing.assert_allclose(single[finite], double[finite], rtol=2e-5)
    assert alpha == 2 or np.abs(double).max() > 1e6 ** (1 / alpha)


def test_draws_beyond_the_largest_number():
    v = np.asarray(velocities(jax.random.key(1), (100_000,), 0.1, F32))
    largest = np.finfo(np.float32).max
    # The probability is 0.0013: 130 are expected, and 70 to 190 with probability 1 - 1e-7.
    assert 70 < np.sum(np.abs(v) == largest) < 190
    assert np.all(np.isfinite(v))
