"""At alpha = 2 the optimizer is optax.sgd."""

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
optax = pytest.importorskip("optax")

from fuld.optax import fuld  # noqa: E402


def trees(dtype, steps=6):
    rng = np.random.default_rng(0)

    def one():
        return {
            "w": jnp.array(rng.standard_cauchy((3, 4)), dtype),
            "b": [jnp.array(rng.normal(), dtype), None],
        }

    return one(), [one() for _ in range(steps)]


def run(optimizer, params, grads):
    state = optimizer.init(params)
    out = []
    for g in grads:
        updates, state = optimizer.update(g, state, params)
        params = optax.apply_updates(params, updates)
        out.append(updates)
    return out, state


def assert_same(ours, theirs):
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a, float), np.asarray(b, float))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("form", ["matched", "paper"])
@pytest.mark.parametrize(
    "settings",
    [
        {"momentum": 0.9},
        {"momentum": None},
        {"momentum": 0.0},
        {"momentum": 0.8, "nesterov": True},
        {"momentum": 0.9, "accumulator_dtype": jnp.bfloat16},
        {"momentum": 0.9, "accumulator_dtype": jnp.float32, "nesterov": True},
    ],
)
def test_bit_for_bit(dtype, form, settings):
    params, grads = trees(dtype)
    knee: dict[str, Any] = {"noise_scale" if form == "matched" else "beta": 0.3}
    ours = run(fuld(0.1, alpha=2.0, form=form, **knee, **settings), params, grads)
    assert_same(ours, run(optax.sgd(0.1, **settings), params, grads))


def test_bit_for_bit_in_double_precision_and_on_a_schedule():
    with jax.enable_x64(True):
        params, grads = trees("float64")
        schedule = optax.cosine_decay_schedule(0.3, 5)
        ours = run(fuld(schedule, alpha=2), params, grads)
        assert_same(ours, run(optax.sgd(schedule, 0.9), params, grads))


@pytest.mark.parametrize("settings", [{"noise_scale": 0.3}, {"form": "paper", "beta": 0.3}])
def test_to_rounding_when_alpha_is_traced(settings):
    params, grads = trees("float32")

    @jax.jit
    def updates(alpha):
        return run(fuld(0.1, 0.9, alpha, **settings), params, grads)[0]

    theirs = run(optax.sgd(0.1, 0.9), params, grads)[0]
    for a, b in zip(jax.tree.leaves(updates(2.0)), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_each_goes_on_where_the_other_stopped():
    params, grads = trees("float32")
    sgd, ours = optax.sgd(0.1, 0.9), fuld(0.1, 0.9, 1.5)
    _, state = run(sgd, params, grads)
    updates, state = ours.update(grads[0], state, params)
    sgd.update(updates, state, params)


def test_whole_numbers_as_sgd():
    params = {"n": jnp.arange(3), "x": jnp.ones(2)}
    grads = [params] * 3
    for momentum in (None, 0.9):
        assert_same(
            run(fuld(0.1, momentum, 2.0), params, grads),
            run(optax.sgd(0.1, momentum), params, grads),
        )
        ours = run(fuld(0.1, momentum, 1.5), params, grads)[0]
        theirs = run(optax.sgd(0.1, momentum), params, grads)[0]
        assert jax.tree.map(jnp.result_type, ours) == jax.tree.map(jnp.result_type, theirs)
