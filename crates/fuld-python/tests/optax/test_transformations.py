"""Tracing, mapping, scanning, masking, injecting and storing a transformation."""

import pickle
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
optax = pytest.importorskip("optax")

from fuld.optax import from_paper, fuld, scale_by_fuld  # noqa: E402

G = jnp.array([-30.0, -1.0, 0.0, 0.2, 5.0, 1e4])


def first(optimizer, g=G):
    return optimizer.update(g, optimizer.init(g), g)[0]


@pytest.mark.parametrize("form", ["matched", "paper"])
def test_every_number_can_be_traced(form):
    def updates(lr, momentum, alpha, number, decay):
        knee = {"noise_scale" if form == "matched" else "beta": number}
        return first(fuld(lr, momentum, alpha, form=form, weight_decay=decay, **knee))

    numbers = (0.1, 0.8, 1.6, 0.5, 0.01)
    np.testing.assert_allclose(jax.jit(updates)(*numbers), updates(*numbers), rtol=3e-6)


@pytest.mark.parametrize("form", ["matched", "paper"])
@pytest.mark.parametrize("argument", range(4))
def test_mapped_over_every_number(form, argument):
    numbers = [0.1, 0.8, 1.6, 0.5]
    several = jnp.array([1.0, 0.7, 1.1]) * numbers[argument]
    axes = [0 if k == argument else None for k in range(4)]

    def updates(lr, momentum, alpha, number):
        knee = {"noise_scale" if form == "matched" else "beta": number}
        return first(fuld(lr, momentum, alpha, form=form, **knee))

    mapped = jax.vmap(updates, axes)(*numbers[:argument], several, *numbers[argument + 1 :])
    for number, row in zip(several, mapped, strict=True):
        one = [*numbers[:argument], float(number), *numbers[argument + 1 :]]
        np.testing.assert_allclose(row, updates(*one), rtol=5e-6)


def test_injected_schedules():
    alphas = optax.linear_schedule(1.2, 2.0, 4)
    scales = optax.linear_schedule(1.0, 0.1, 4)
    injected = optax.inject_hyperparams(fuld)(0.1, 0.0, alpha=alphas, noise_scale=scales)
    state = injected.init(G)
    update = jax.jit(injected.update)
    for k in range(6):
        updates, state = update(G, state)
        plain = fuld(0.1, 0.0, float(alphas(k)), float(scales(k)))
        np.testing.assert_allclose(updates, first(plain), rtol=3e-6)
    # And set by hand.
    state.hyperparams["learning_rate"] = jnp.array(0.0)
    np.testing.assert_array_equal(update(G, state)[0], 0.0)


def test_injected_into_the_paper_s_form():
    injected = optax.inject_hyperparams(from_paper)(eta=0.1, gamma=0.5, alpha=1.5, beta=2.0)
    updates, _ = jax.jit(injected.update)(G, injected.init(G))
    np.testing.assert_allclose(updates, first(from_paper(0.1, 0.5, 1.5, 2.0)), rtol=3e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_types_stay_when_numbers_are_injected(dtype):
    injected = optax.inject_hyperparams(fuld, hyperparam_dtype=jnp.float32)(0.1, alpha=1.9)
    g = G.astype(dtype)
    state = injected.init(g)

    def step(state, _):
        updates, state = injected.update(g, state)
        return state, updates

    _, updates = jax.lax.scan(step, state, length=3)
    # The learning rate is optax's to multiply by, and single.
    plain = first(scale_by_fuld(0.9, 1.9), g)
    assert plain.dtype == dtype
    np.testing.assert_allclose(updates[0].astype(float), -0.1 * plain.astype(float), rtol=1e-2)


def test_traced_alpha_outside_the_range_is_nan():
    updates = jax.jit(lambda alpha: first(fuld(0.1, alpha=alpha)))(2.1)
    assert np.isnan(updates).all()


def test_scan_is_a_loop():
    optimizer = fuld(0.1, 0.9, 1.5, nesterov=True)

    def step(carry, _):
        x, state = carry
        updates, state = optimizer.update(x, state, x)
        return (optax.apply_updates(x, updates), state), None

    carry = (G, optimizer.init(G))
    (scanned, _), _ = jax.lax.scan(step, carry, length=5)
    for _ in range(5):
        carry, _ = step(carry, None)
    np.testing.assert_allclose(scanned, carry[0], rtol=1e-5)


def test_gradients_flow_through_steps():
    """The derivative of the loss after three steps in the learning rate, by differences."""

    @jax.jit
    def loss(lr, alpha=1.5):
        optimizer = fuld(lr, 0.5, alpha, 0.5)
        x = jnp.array([1.0, -2.0, 0.3])
        state = optimizer.init(x)
        for _ in range(3):
            updates, state = optimizer.update(x, state, x)
            x = optax.apply_updates(x, updates)
        return jnp.sum(x**2)

    with jax.enable_x64(True):
        by_differences = (loss(0.1 + 1e-5) - loss(0.1 - 1e-5)) / 2e-5
        assert float(jax.grad(loss)(0.1)) == pytest.approx(float(by_differences), rel=1e-5)
        by_differences = (loss(0.1, 1.5 + 1e-5) - loss(0.1, 1.5 - 1e-5)) / 2e-5
        in_alpha = jax.grad(loss, 1)(0.1, 1.5)
        assert float(in_alpha) == pytest.approx(float(by_differences), rel=1e-4)


def test_masks_and_labels():
    params = {"a": G, "b": G, "c": G}
    masked = optax.masked(fuld(0.1, alpha=1.5), {"a": True, "b": False, "c": False})
    updates = first(masked, params)
    np.testing.assert_array_equal(updates["a"], first(fuld(0.1, alpha=1.5)))
    np.testing.assert_array_equal(updates["b"], G)
    several = optax.multi_transform(
        {
            "heavy": fuld(0.1, alpha=1.2),
            "light": fuld(0.1, alpha=2.0),
            "still": optax.set_to_zero(),
        },
        {"a": "heavy", "b": "light", "c": "still"},
    )
    updates = first(several, params)
    np.testing.assert_array_equal(updates["a"], first(fuld(0.1, alpha=1.2)))
    np.testing.assert_array_equal(updates["b"], first(optax.sgd(0.1, 0.9)))
    np.testing.assert_array_equal(updates["c"], 0.0)


def test_nothing_and_none():
    optimizer = fuld(0.1)
    trees: list[Any] = [{}, [], None, {"a": None, "b": G}]
    for tree in trees:
        updates = first(optimizer, tree)
        assert jax.tree.structure(updates) == jax.tree.structure(tree)
    assert first(optimizer, jnp.zeros((0, 3))).shape == (0, 3)


def test_extra_arguments_are_let_pass():
    for optimizer in (fuld(0.1), scale_by_fuld()):
        optimizer.update(G, optimizer.init(G), G, value=1.0, anything="else")


def test_donated_buffers():
    optimizer = fuld(0.1, alpha=1.5)
    step = jax.jit(lambda x, state: optimizer.update(x, state, x), donate_argnums=(0, 1))
    x, state = jnp.array(G), optimizer.init(G)
    buffer = state[0].trace
    updates, _ = step(x, state)
    assert buffer.is_deleted()
    np.testing.assert_allclose(updates, first(optimizer), rtol=1e-6)


def test_state_is_that_of_sgd_and_is_pickled():
    optimizer = fuld(0.1, alpha=1.5)
    _, state = optimizer.update(G, optimizer.init(G))
    assert jax.tree.structure(state) == jax.tree.structure(optax.sgd(0.1, 0.9).init(G))
    back = pickle.loads(pickle.dumps(state))
    np.testing.assert_array_equal(
        optimizer.update(G, back)[0], optimizer.update(G, state)[0], strict=True
    )
    # Nothing in it but the buffer.
    assert sum(leaf.size for leaf in jax.tree.leaves(state)) == G.size


def test_accumulator_dtype():
    g = G.astype(jnp.bfloat16)
    optimizer = fuld(0.1, 0.9, 1.5, accumulator_dtype=jnp.float32)
    assert optimizer.init(g)[0].trace.dtype == jnp.float32
    _, state = optimizer.update(g, optimizer.init(g))
    assert state[0].trace.dtype == jnp.float32


def test_shapes_can_be_had_without_values():
    optimizer = fuld(0.1, alpha=1.5)
    state = jax.eval_shape(optimizer.init, G)
    updates, _ = jax.eval_shape(optimizer.update, G, state)
    assert updates.shape == G.shape
