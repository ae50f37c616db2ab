"""Errors of invalid settings."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
optax = pytest.importorskip("optax")

from fuld.optax import from_paper, fuld, scale_by_fuld  # noqa: E402


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 2.1}, r"alpha must satisfy 0\.1 <= alpha <= 2, got 2\.1"),
        ({"alpha": 0.05}, r"alpha must satisfy 0\.1 <= alpha <= 2, got 0\.05"),
        ({"alpha": np.nan}, "alpha .* got nan"),
        ({"alpha": jnp.array(2.5)}, r"alpha .* got 2\.5"),
        ({"noise_scale": 0.0}, r"noise_scale must be positive and finite, got 0\.0"),
        ({"noise_scale": np.inf}, "noise_scale must be positive and finite, got inf"),
        ({"momentum": 1.0}, r"momentum must be at least 0 and below 1, .* got 1\.0"),
        ({"momentum": -0.1}, r"momentum .* got -0\.1"),
        ({"momentum": 1.1, "form": "paper"}, r"0 <= momentum <= 1, got 1\.1"),
        (
            {"momentum": 0.0, "nesterov": True},
            r"nesterov=True requires a momentum above 0, got 0\.0",
        ),
        (
            {"momentum": None, "nesterov": True},
            "nesterov=True requires a momentum above 0, got None",
        ),
        ({"learning_rate": -0.1}, r"learning_rate must be finite and not negative, got -0\.1"),
        ({"weight_decay": -1.0}, r"weight_decay must be finite and not negative, got -1\.0"),
        ({"noise_scale": 0.1, "form": "paper"}, "noise_scale requires form='matched'"),
        ({"beta": 2.0}, r"beta requires form='paper', got beta=2\.0"),
        ({"form": "matching"}, "form must be 'matched' or 'paper', got 'matching'"),
        ({"mask": True}, "require weight_decay"),
        ({"decoupled_weight_decay": True}, "require weight_decay"),
    ],
)
def test_wrong_values(settings, words):
    with pytest.raises(ValueError, match=words):
        fuld(**{"learning_rate": 0.1, **settings})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": "1.5"}, "alpha must be a number or 'auto', got '1.5'"),
        ({"noise_scale": "auto"}, r"got 'auto': .* fuld\.optax\.guard\(\)"),
        ({"alpha": [1.5]}, r"alpha must be a number, got \[1\.5\]"),
        ({"noise_scale": [0.1]}, r"noise_scale must be a number, got \[0\.1\]"),
        ({"alpha": optax.constant_schedule(1.5)}, "alpha .* got a schedule: .*inject_hyperparams"),
        ({"learning_rate": "fast"}, "learning_rate must be a number, got 'fast'"),
        ({"alpha": jnp.ones(3)}, "alpha must be a number"),
    ],
)
def test_wrong_types(settings, words):
    with pytest.raises(TypeError, match=words):
        fuld(**{"learning_rate": 0.1, **settings})


def test_several_alphas_at_once():
    with pytest.raises(ValueError, match=r"alpha must be one number, got .* \(3,\): .*jax\.vmap"):
        jax.jit(lambda alpha: fuld(0.1, alpha=alpha).init(1.0))(jnp.ones(3))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"eta": 0.0}, r"eta must be positive and finite, got 0\.0"),
        ({"gamma": -1}, r"gamma must be finite and not negative, got -1\.0"),
        ({"gamma": 20}, r"gamma \* eta must be at most 1, got 2\.0"),
        ({"beta": -1}, r"beta must be positive and finite, got -1\.0"),
        ({"alpha": 3}, r"alpha must satisfy .* got 3\.0"),
    ],
)
def test_wrong_symbols(settings, words):
    with pytest.raises(ValueError, match=words):
        from_paper(**{"eta": 0.1, "gamma": 0.1, **settings})


def test_learning_rate_belongs_to_the_paper_s_form():
    with pytest.raises(ValueError, match="form='paper' requires learning_rate"):
        scale_by_fuld(form="paper")
    with pytest.raises(ValueError, match="learning_rate requires form='paper'"):
        scale_by_fuld(learning_rate=0.1)


def test_complex_numbers():
    params = {"layer": {"w": jnp.ones(2, jnp.complex64)}}
    for alpha in (1.5, 2.0):
        optimizer = fuld(0.1, alpha=alpha)
        with pytest.raises(
            TypeError, match=r"\['layer'\]\['w'\] must be real, got complex64.*split_real"
        ):
            optimizer.init(params)
        with pytest.raises(TypeError, match="complex64"):
            optimizer.update(params, optimizer.init({"layer": {"w": jnp.ones(2)}}))
        # As the message says.
        split = optax.contrib.split_real_and_imaginary(optimizer)
        updates, _ = split.update(params, split.init(params), params)
        assert updates["layer"]["w"].dtype == jnp.complex64


def test_decay_needs_parameters():
    optimizer = fuld(0.1, weight_decay=0.1)
    with pytest.raises(ValueError, match="params"):
        optimizer.update(jnp.ones(2), optimizer.init(jnp.ones(2)))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"nesterov": "a"}, "nesterov must be True or False, got 'a'"),
        ({"decoupled_weight_decay": 0.1}, "decoupled_weight_decay must be True or False, got 0.1"),
        ({"noise_scale": 1e-300}, "the knee is out of range for single precision"),
        ({"noise_scale": 1e300}, "the knee is out of range for single precision"),
        (
            {"accumulator_dtype": "int8"},
            "accumulator_dtype must be a type of real numbers, got int8",
        ),
    ],
)
def test_what_else_is_refused(settings, says):
    with pytest.raises((TypeError, ValueError), match=says):
        fuld(0.1, **settings)


def test_an_infinite_gradient_shows():
    for alpha in (1.5, jnp.array(1.5)):
        optimizer = optax.inject_hyperparams(fuld)(0.1, alpha=alpha)
        x = jnp.ones(3)
        updates, _ = optimizer.update(jnp.array([1.0, jnp.inf, 1.0]), optimizer.init(x), x)
        assert jnp.isnan(updates).tolist() == [False, True, False]
