"""The field in JAX against the law itself."""

import numpy as np
import pytest
from fuld import grad_g

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytest.importorskip("optax")

from fuld.optax._field import bands, evaluate, field  # noqa: E402

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
ALPHAS = [0.1, 0.15, 0.4, 0.9, 1.0, 1.37, 1.75, 1.99, 1.9999, 2 - 2**-23]


def points(dtype):
    rng = np.random.default_rng(5)
    logs = rng.uniform(-36, 37, 4000)
    v = np.concatenate([10**logs, rng.uniform(0, 12, 8000), 2.0 ** np.arange(-60, 60)])
    v = v.astype(dtype)
    # Both sides of every edge between octaves too.
    return np.concatenate([v, -v, np.nextafter(v, dtype(0))])


@jax.jit
def traced(alpha, v):
    return evaluate(field(alpha, np.dtype(v.dtype)), v)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_single_precision(alpha):
    v = points(np.float32)
    alpha = float(np.float32(alpha))
    bound = 1e-6 if alpha > 0.3 else 3e-6
    exact = grad_g(v.astype(float), alpha)
    # Below the least normal number processors may give 0.
    known = np.abs(exact) > 2e-38
    for ours in (evaluate(field(alpha, F32), jnp.array(v)), traced(np.float32(alpha), v)):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(np.asarray(ours)[known], exact[known], rtol=bound)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_double_precision(alpha):
    with jax.enable_x64(True):
        v = points(np.float64)
        v = v[np.abs(v) < 1e36]
        bound = 1e-8 if alpha >= 0.12 else 2e-7
        exact = grad_g(v, alpha)
        for ours in (evaluate(field(alpha, F64), jnp.array(v)), traced(alpha, v)):
            assert ours.dtype == np.float64
            np.testing.assert_allclose(np.asarray(ours), exact, rtol=bound)


def test_limits():
    for alpha in (0.1, 1.0, 1.75, 1.9999):
        of = [jnp.inf, -jnp.inf, 0.0, -0.0, jnp.nan]
        for ours in (evaluate(field(alpha, F32), jnp.array(of)), traced(alpha, jnp.array(of))):
            np.testing.assert_array_equal(ours, [0, 0, 0, 0, np.nan])
            np.testing.assert_array_equal(np.signbit(ours)[:4], [False, True, False, True])
    v = jnp.array([jnp.inf, -3.7, 1e-30, jnp.nan])
    np.testing.assert_array_equal(traced(2.0, v), v)


def test_odd_to_the_last_bit():
    v = jnp.array(points(np.float32))
    np.testing.assert_array_equal(traced(1.3, -v), -traced(1.3, v))


@pytest.mark.parametrize("alpha", [0.0999, 2.0000002, -1.0, 0.0, np.inf, np.nan])
def test_no_field_outside_the_range(alpha):
    assert np.isnan(traced(alpha, jnp.array([0.3, 4.0]))).all()


def test_nearer_to_two_than_the_table():
    with jax.enable_x64(True):
        v = np.array([-5.0, 0.1, 3.0, 20.0])
        alpha = 2 - 1e-12
        np.testing.assert_allclose(traced(alpha, v), grad_g(v, alpha), rtol=1e-5)
        # Where the tail begins it is the field of 2 - 1e-9, which is another by up to itself.
        v = np.linspace(6.0, 10.0, 41)
        assert (np.abs(traced(alpha, v) / grad_g(v, alpha) - 1) < 1).all()
        np.testing.assert_array_equal(jax.jacobian(traced)(2.0, v), 0.0)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.75, 1.99])
def test_slope_is_that_of_gamma_functions(alpha):
    from scipy.special import gamma

    exact = alpha ** (2 / alpha) * gamma(3 / alpha) / gamma(1 / alpha)
    assert field(alpha, F64).slope == pytest.approx(exact, rel=1e-8)
    assert float(field(jnp.array(alpha), F32).slope) == pytest.approx(exact, rel=1e-6)


def test_derivative_in_v():
    v = np.array([0.0, 0.03, -0.2, 0.25, 1.0, -2.0, 4.0, 40.0], np.float32)
    ours = jax.vmap(jax.grad(lambda v: traced(1.0, v)))(v)
    np.testing.assert_allclose(ours, 2 * (1 - v**2) / (1 + v**2) ** 2, rtol=1e-4, atol=1e-6)
    second = jax.vmap(jax.grad(jax.grad(lambda v: traced(1.0, v))))(v[1:])
    v = v[1:]
    np.testing.assert_allclose(second, 4 * v * (v**2 - 3) / (1 + v**2) ** 3, rtol=1e-2, atol=1e-4)


def test_derivative_in_alpha():
    with jax.enable_x64(True):
        v, step = np.array([-3.0, 0.1, 1.0, 5.0]), 1e-5
        ours = jax.vmap(lambda v: jax.grad(traced)(1.6, v))(v)
        exact = (grad_g(v, 1.6 + step) - grad_g(v, 1.6 - step)) / (2 * step)
        np.testing.assert_allclose(ours, exact, rtol=1e-5)


def test_mapped_over_alpha():
    v = np.linspace(-9, 9, 50, dtype=np.float32)
    alphas = np.array([0.3, 1.0, 1.99, 2.0], np.float32)
    ours = jax.vmap(traced, (0, None))(alphas, v)
    for alpha, row in zip(alphas, ours, strict=True):
        np.testing.assert_allclose(row, grad_g(v.astype(float), float(alpha)), rtol=2e-6)


def test_table_is_small():
    assert bands(F32).coefficients.nbytes < 1.2e6
    # A known alpha brings its own table only.
    program = jax.jit(lambda v: evaluate(field(1.75, F32), v)).lower(jnp.ones(3)).as_text()
    assert len(program) < 60_000
