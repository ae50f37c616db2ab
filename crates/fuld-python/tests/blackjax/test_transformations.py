"""Kernels under JAX's transformations, on trees and in both precisions, and what they refuse."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
blackjax = pytest.importorskip("blackjax")

from fuld.blackjax import fuld, metric  # noqa: E402


def logdensity(position):
    return -0.5 * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(position))


TREE = {"a": jnp.ones((2, 3)), "b": (jnp.zeros(()), jnp.ones(4))}


def test_trees_and_jit():
    algorithm = fuld(logdensity, 1.5, 0.3, 5, jnp.linspace(0.5, 2, 11))
    state = algorithm.init(TREE)
    next_state, info = jax.jit(algorithm.step)(jax.random.key(0), state)
    plain_state, _ = algorithm.step(jax.random.key(0), state)
    assert jax.tree.structure(next_state.position) == jax.tree.structure(TREE)
    assert jax.tree.structure(info.momentum) == jax.tree.structure(TREE)
    assert next_state._fields == ("position", "logdensity", "logdensity_grad")
    assert jax.tree.map(jnp.shape, next_state) == jax.tree.map(jnp.shape, state)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5), next_state, plain_state)
    # A rejected proposal leaves the state as it was.
    accepted = info.proposal if info.is_accepted else state
    np.testing.assert_array_equal(next_state.position["a"], accepted.position["a"])


def test_it_is_an_algorithm_of_blackjax():
    algorithm = fuld(logdensity, 1.5, 0.3, 5)
    assert isinstance(algorithm, blackjax.SamplingAlgorithm)
    _, (states, info) = blackjax.util.run_inference_algorithm(
        rng_key=jax.random.key(0),
        inference_algorithm=algorithm,
        num_steps=10,
        initial_position=TREE,
    )
    assert states.position["a"].shape == (10, 2, 3)
    assert info._fields == blackjax.mcmc.hmc.HMCInfo._fields


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.8, 2.0])
def test_precision(double, alpha):
    with jax.enable_x64(double):
        dtype = jnp.float64 if double else jnp.float32
        algorithm = fuld(logdensity, alpha, 0.3, 5)

        def one_step(state, key):
            state, info = algorithm.step(key, state)
            return state, info.energy

        keys = jax.random.split(jax.random.key(1), 200)
        state, energy = jax.lax.scan(one_step, algorithm.init(jnp.ones(5, dtype)), keys)
        assert state.position.dtype == state.logdensity.dtype == energy.dtype == dtype
        assert np.all(np.isfinite(energy))


def test_alpha_may_be_traced():
    def last(alpha, step_size):
        algorithm = fuld(logdensity, alpha, step_size, 5)
        return algorithm.step(jax.random.key(2), algorithm.init(jnp.ones(50)))[1].proposal.position

    alphas, steps = np.array([0.5, 1.0, 1.5]), np.array([0.1, 0.2, 0.3])
    mapped = jax.jit(jax.vmap(last))(alphas, steps)
    for alpha, step, ours in zip(alphas, steps, mapped, strict=True):
        np.testing.assert_allclose(ours, last(float(alpha), float(step)), rtol=2e-4, atol=1e-5)


def test_an_alpha_outside_its_range_that_is_traced_rejects():
    @jax.jit
    def step(alpha):
        algorithm = fuld(logdensity, alpha, 0.1, 5)
        return algorithm.step(jax.random.key(2), algorithm.init(jnp.ones(5)))

    for alpha in (0.05, 2.5):
        state, info = step(alpha)
        assert not info.is_accepted
        np.testing.assert_array_equal(state.position, 1)


def test_adaptation_of_many_chains():
    """Mapped over chains, adaptation returns arrays of everything, alpha too."""

    def logdensity(x):
        return -0.5 * jnp.sum((x / jnp.array([0.1, 1.0, 10.0])) ** 2)

    warmup = blackjax.window_adaptation(fuld, logdensity, num_integration_steps=4, alpha=1.8)

    def one_chain(key):
        key_warmup, key = jax.random.split(key)
        (state, parameters), _ = warmup.run(key_warmup, jnp.ones(3), 400)
        return state, parameters, key

    states, parameters, keys = jax.vmap(one_chain)(jax.random.split(jax.random.key(3), 16))

    def sample(state, parameters, key):
        algorithm = fuld(logdensity, **parameters)

        def one_step(state, key):
            state, info = algorithm.step(key, state)
            return state, (state.position, info.acceptance_rate)

        return jax.lax.scan(one_step, state, jax.random.split(key, 500))[1]

    x, acceptance = jax.vmap(sample)(states, parameters, keys)
    np.testing.assert_allclose(np.std(x, axis=(0, 1)), [0.1, 1.0, 10.0], rtol=0.15)
    assert 0.65 < np.mean(acceptance) < 0.99


def test_a_divergence_is_reported_and_rejected():
    # A velocity is at most the peak of the field: few energies grow by 1000, the default.
    algorithm = fuld(lambda x: -jnp.sum(x**4), 1.9, 10.0, 20, divergence_threshold=20)
    state, info = algorithm.step(jax.random.key(4), algorithm.init(jnp.ones(3)))
    assert info.is_divergent
    assert not info.is_accepted
    np.testing.assert_array_equal(state.position, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 2.1}, r"alpha must be in \[0.1, 2\], got 2.1"),
        ({"alpha": 0.05}, r"alpha must be in \[0.1, 2\], got 0.05"),
        ({"alpha": np.nan}, r"alpha must be in \[0.1, 2\], got nan"),
        ({"step_size": 0.0}, "step_size must be positive and finite, got 0.0"),
        ({"num_integration_steps": 0}, "num_integration_steps must be at least 1, got 0"),
        ({"inverse_mass_matrix": [1.0, -2.0]}, "must be positive and finite, got -2.0"),
        (
            {"inverse_mass_matrix": np.ones((2, 3))},
            r"square matrix, got an array of shape \(2, 3\)",
        ),
    ],
)
def test_refusals(arguments, message):
    good = {"alpha": 1.5, "step_size": 0.1, "num_integration_steps": 5}
    with pytest.raises(ValueError, match=message):
        fuld(logdensity, **(good | arguments))


def test_refusals_of_the_metric():
    with pytest.raises(ValueError, match=r"alpha must be in \[0.1, 2\], got 3"):
        metric(3, 1.0)
    with pytest.raises(TypeError, match="alpha"):
        metric("heavy", 1.0)  # type: ignore[arg-type]
