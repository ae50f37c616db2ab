"""The steps against the rule, written down in double precision with the exact field."""

import numpy as np
import pytest
from fuld import grad_g

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
optax = pytest.importorskip("optax")

from fuld.optax import from_paper, fuld, scale_by_fuld  # noqa: E402

RNG = np.random.default_rng(3)
START = RNG.normal(size=40)
# Some gradients in the straight part of the field, some far beyond its knee.
GRADS = RNG.standard_cauchy((8, 40)) * 3


def knee(form, number):
    """The knee of a form by name; `number` is its noise_scale or beta."""
    return {"noise_scale" if form == "matched" else "beta": number}


def factors(form, lr, momentum, alpha, number):
    if form == "paper":
        kappa = number ** (-1 / alpha)
        return np.sqrt(lr) / kappa, np.sqrt(lr) * kappa ** (alpha - 1)
    slope = grad_g(1e-12, alpha) / 1e-12
    momentum_knee = number * (1 - momentum) ** (-1 / alpha)
    return 1 / momentum_knee, lr * momentum_knee / slope


def rule(form, lrs, momentum, alpha, number, *, nesterov=False, decay=0.0, decoupled=False):
    x, b = START.copy(), 0.0
    for g, lr in zip(GRADS, lrs, strict=True):
        inner, outer = factors(form, lr, momentum, alpha, number)
        g = g if decoupled else g + decay * x
        x = x - lr * decay * x if decoupled else x
        b = momentum * b + g
        followed = g + momentum * b if nesterov else b
        x = x - outer * grad_g(inner * followed, alpha)
    return x


def ours(optimizer, dtype=jnp.float32):
    x = jnp.array(START, dtype)
    state = optimizer.init(x)
    step = jax.jit(lambda g, state, x: optimizer.update(g, state, x))
    for g in GRADS:
        updates, state = step(jnp.array(g, dtype), state, x)
        x = optax.apply_updates(x, updates)
    return np.asarray(x)


@pytest.mark.parametrize("alpha", [0.6, 1.0, 1.5, 1.75, 1.99])
@pytest.mark.parametrize("form", ["matched", "paper"])
@pytest.mark.parametrize("nesterov", [False, True])
def test_steps(alpha, form, nesterov):
    optimizer = fuld(0.05, 0.8, alpha, form=form, nesterov=nesterov, **knee(form, 0.7))
    exact = rule(form, [0.05] * 8, 0.8, alpha, 0.7, nesterov=nesterov)
    np.testing.assert_allclose(ours(optimizer), exact, rtol=2e-5, atol=2e-6)
    with jax.enable_x64(True):
        np.testing.assert_allclose(ours(optimizer, jnp.float64), exact, rtol=3e-8, atol=1e-8)


@pytest.mark.parametrize("form", ["matched", "paper"])
@pytest.mark.parametrize("decoupled", [False, True])
def test_weight_decay(form, decoupled):
    optimizer = fuld(0.05, 0.8, 1.5, form=form, weight_decay=0.3, decoupled_weight_decay=decoupled)
    exact = rule(form, [0.05] * 8, 0.8, 1.5, 1.0, decay=0.3, decoupled=decoupled)
    np.testing.assert_allclose(ours(optimizer), exact, rtol=2e-5, atol=2e-6)


def test_mask_says_what_decays():
    params = {"w": jnp.ones(2), "b": jnp.ones(2)}
    zero = jax.tree.map(jnp.zeros_like, params)
    for mask in ({"w": True, "b": False}, lambda params: {"w": True, "b": False}):
        optimizer = fuld(0.1, weight_decay=0.5, decoupled_weight_decay=True, mask=mask)
        updates, _ = optimizer.update(zero, optimizer.init(params), params)
        np.testing.assert_allclose(updates["w"], -0.05, rtol=1e-6)
        np.testing.assert_array_equal(updates["b"], 0.0)


@pytest.mark.parametrize("form", ["matched", "paper"])
def test_schedule(form):
    schedule = optax.linear_schedule(0.0, 0.1, 5)
    lrs = [float(schedule(k)) for k in range(8)]
    exact = rule(form, lrs, 0.8, 1.5, 1.0)
    np.testing.assert_allclose(ours(fuld(schedule, 0.8, 1.5, form=form)), exact, rtol=2e-5)


def test_paper_is_the_same_in_its_own_symbols():
    eta, gamma, alpha, beta = 0.2, 0.5, 1.6, 3.0
    x, v = START.copy(), np.zeros(40)
    for g in GRADS:
        v = (1 - gamma * eta) * v - eta * g
        x = x + eta * beta ** (1 / alpha - 1) * grad_g(beta ** (1 / alpha) * v, alpha)
    np.testing.assert_allclose(ours(from_paper(eta, gamma, alpha, beta)), x, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["matched", "paper"])
def test_chain_of_ones_own(form):
    rate = 0.05 if form == "paper" else None
    chain = optax.chain(
        scale_by_fuld(0.8, 1.5, form=form, learning_rate=rate, **knee(form, 0.7)),
        optax.scale_by_learning_rate(0.05),
    )
    np.testing.assert_array_equal(
        ours(chain), ours(fuld(0.05, 0.8, 1.5, form=form, **knee(form, 0.7)))
    )


def test_small_steps_are_those_of_sgd():
    g = jnp.array([1e-4, -2e-4])
    for alpha in (0.5, 1.5):
        optimizer = fuld(0.1, 0.9, alpha)
        updates, _ = optimizer.update(g, optimizer.init(g))
        np.testing.assert_allclose(updates, -0.1 * g, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_the_rounded_single(dtype):
    optimizer = fuld(0.25, None, 1.5)
    g = jnp.array(GRADS[0], dtype)
    half, _ = optimizer.update(g, optimizer.init(g))
    single, _ = optimizer.update(g.astype("float32"), optimizer.init(g))
    assert half.dtype == dtype
    np.testing.assert_array_equal(half, single.astype(dtype))


def test_stays_where_sgd_is_thrown_out():
    """Noise of infinite variance, of scale 1 and alpha = 1.2, on the gradients of |x|²/2.

    On 200 other seeds the largest |x| was between 2.4 and 3.7, and SGD's above 117.
    """
    from fuld import SymmetricStable

    noise = SymmetricStable(1.2).rvs(size=(2000, 20), random_state=11).astype(np.float32)

    def largest(optimizer):
        def step(carry, noise):
            x, state = carry
            updates, state = optimizer.update(x + noise, state, x)
            return (optax.apply_updates(x, updates), state), jnp.abs(x)

        x = jnp.zeros(20)
        _, sizes = jax.lax.scan(step, (x, optimizer.init(x)), noise)
        return float(jnp.max(sizes))

    assert largest(fuld(0.02, 0.9, 1.2, 1.0)) < 6 < 60 < largest(optax.sgd(0.02, 0.9))
