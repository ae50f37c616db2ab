"""The kinetic energy in JAX against the law itself."""

import numpy as np
import pytest
from fuld import SymmetricStable, grad_g

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytest.importorskip("blackjax")

from fuld.blackjax._energy import energy, energy_table  # noqa: E402

ALPHAS = [0.1, 0.5, 1.0, 1.3, 1.8, 1.99, 2 - 2**-20, 2.0]


def points(dtype):
    rng = np.random.default_rng(7)
    v = np.concatenate([10 ** rng.uniform(-3, 18, 4000), rng.uniform(0, 12, 8000)])
    v = np.concatenate([v, 2.0 ** np.arange(-10, 60)]).astype(dtype)
    # Both sides of every edge between octaves too.
    return np.concatenate([v, -v, np.nextafter(v, dtype(0))])


@jax.jit
def traced(alpha, v):
    return energy(energy_table(alpha, np.dtype(v.dtype)), v)


def exact(alpha, v):
    law = SymmetricStable.kinetic(alpha)
    return 0.5 * v * v if alpha == 2 else law.logpdf(0.0) - law.logpdf(v)


def both(alpha, v):
    known = energy(energy_table(alpha, np.dtype(v.dtype)), jnp.array(v))
    return known, traced(v.dtype.type(alpha), v)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_double_precision(alpha):
    with jax.enable_x64(True):
        v = points(np.float64)
        known, computed = both(alpha, v)
        # The difference of logarithms loses digits where it is small.
        np.testing.assert_allclose(known, exact(alpha, v), rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(computed, exact(alpha, v), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_single_precision(alpha):
    alpha, v = float(np.float32(alpha)), points(np.float32)
    for ours in both(alpha, v):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, exact(alpha, v.astype(float)), rtol=5e-7, atol=1e-14)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_near_zero(alpha):
    """The energy is slope·v²/2, to relative accuracy, where the logarithms of the law cancel."""
    v = np.float32(10.0) ** np.arange(-16, -11, dtype=np.float32)
    for ours in both(float(np.float32(alpha)), v):
        expected = 0.5 * v * grad_g(v.astype(float), float(np.float32(alpha)))
        np.testing.assert_allclose(ours, expected, rtol=5e-7)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_derivative(alpha):
    """Its derivative is the field, as JAX computes it and as differences have it."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(8)
        v = np.concatenate([rng.uniform(-9, 9, 500), 10 ** rng.uniform(1, 6, 500)])
        table = energy_table(alpha, np.dtype(np.float64))
        ours = jax.vmap(jax.grad(lambda v: energy(table, v)))(v)
        np.testing.assert_allclose(ours, grad_g(v, alpha), rtol=1e-10)
        step = 1e-4 * np.maximum(np.abs(v), 0.1)
        differences = (energy(table, v + step) - energy(table, v - step)) / (2 * step)
        # Where v∇G is of order 1, the third derivative is of the order of ∇G/v²; below alpha = 1
        # it is larger near 0, where the field has its knee.
        known = np.abs(v) > (1.0 if alpha < 1 else 0)
        np.testing.assert_allclose(differences[known], ours[known], rtol=1e-6, atol=1e-7)


def test_largest_numbers():
    """Beyond the table the energy grows as (1 + α) log v, and it stays finite."""
    table = energy_table(1.5, np.dtype(np.float32))
    v = jnp.array([1e20, 1e30, 1e38, 3e38, np.inf, -np.inf], jnp.float32)
    ours = np.asarray(energy(table, v))
    assert np.all(np.isfinite(ours))
    np.testing.assert_allclose(np.diff(ours[:3]), 2.5 * np.log([1e10, 1e8]), rtol=1e-5)
    assert np.isnan(energy(table, jnp.float32(np.nan)))
