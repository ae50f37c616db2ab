"""The guard for optax: the rule of the Rust crate, with any optimizer."""

import math
from typing import Any

import numpy as np
import pytest
from fuld import SymmetricStable, _native

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
optax = pytest.importorskip("optax")

from fuld.optax import fuld, guard  # noqa: E402

POSITIONS = np.asarray(_native.guard_positions(10_000))


class Recursion:
    """The rule, step by step in double precision."""

    def __init__(self, clip):
        self.clip, self.steps, self.log_scale = clip, 0, 0.0

    def __call__(self, gradient):
        flat = gradient.ravel()
        sampled = np.abs(flat if flat.size <= 4096 else flat[POSITIONS])
        logs = np.log(sampled[np.isfinite(sampled) & (sampled > 0)])
        deviation, first = 0.0, self.steps == 0
        if logs.size:
            mean = logs.mean()
            before = [mean, min(mean, self.log_scale), self.log_scale][min(self.steps, 2)]
            self.steps += 1
            deviation = mean - before
            step = max(0.02, 1 / self.steps) * np.clip(deviation, -math.log(4), math.log(4))
            self.log_scale = before + step
        limit = 0.0 if first else self.clip * math.exp(self.log_scale)
        scaled = gradient * min(1.0, 4 * math.exp(-deviation))
        return np.nan_to_num(np.clip(scaled, -limit, limit), nan=0.0)


def faulty_gradients(shape, steps):
    """Heavy-tailed gradients with bursts, and components that are zero, infinite or NaN."""
    random = np.random.default_rng(1)
    for k in range(steps):
        g = SymmetricStable(1.3).rvs(shape, random) * (1000.0 if k % 7 == 5 else 1.0)
        flat = g.reshape(-1)
        flat[random.integers(flat.size, size=3)] = [np.nan, np.inf, 0.0]
        yield g


@pytest.mark.parametrize("clip", [1.0, 30.0])
@pytest.mark.parametrize("shape", [(3,), (40, 30), (100, 100)])
def test_the_rule(clip, shape):
    transformation, recursion = guard(clip), Recursion(clip)
    state = transformation.init(jnp.zeros(shape))
    update = jax.jit(transformation.update)
    for gradient in faulty_gradients(shape, 60):
        guarded, state = update(jnp.asarray(gradient, jnp.float32), state)
        np.testing.assert_allclose(guarded, recursion(gradient), rtol=3e-5, atol=1e-30)
    assert state.numbers.tolist()[:2] == [1.0, min(recursion.steps, 50)]


def test_usual_gradients_keep_their_bits():
    transformation = guard(1e6)
    random = np.random.default_rng(1)
    _, state = transformation.update(jnp.ones(100), transformation.init(jnp.zeros(100)))
    for dtype in (jnp.float32, jnp.bfloat16):
        for _ in range(20):
            gradient = jnp.asarray(random.normal(size=100), dtype)
            guarded, state = transformation.update(gradient, state)
            assert guarded.dtype == dtype
            assert (guarded == gradient).all()


@pytest.mark.parametrize("first", [jnp.nan, jnp.inf, 0.0])
def test_nothing_to_learn_from(first):
    """A tensor without one usable component changes nothing, and what is not finite becomes 0."""
    transformation = guard()
    state = transformation.init(jnp.zeros(3))
    guarded, after = transformation.update(jnp.full(3, first), state)
    assert guarded.tolist() == [0.0] * 3
    assert after.numbers.tolist() == state.numbers.tolist() == [1.0, 0.0, 0.0]


def test_kinds_of_arrays():
    params = {"a": jnp.ones(()), "b": jnp.ones((0, 3)), "c": jnp.ones(3, complex), "d": None}
    optimizer = optax.chain(guard(), optax.sgd(0.1))
    gradients: dict[str, Any] = {
        **params,
        "c": jnp.array([1 + 1j, complex(jnp.nan, 1), complex(1, jnp.inf)]),
    }
    updates, _ = optimizer.update(gradients, optimizer.init(params), params)
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(updates))
    assert updates["c"].dtype == gradients["c"].dtype
    assert updates["d"] is None


def train(optimizer, fault):
    """Fit a line, with a fault at one step of ten; return the distance from the solution."""
    x = jnp.asarray(np.random.default_rng(1).normal(size=(64, 8)))
    target = jnp.arange(8.0)
    w = jnp.zeros(8)

    @jax.jit
    def step(w, state, k):
        gradient = x.T @ (x @ (w - target)) / 64
        gradient = jnp.where(k % 10 == 9, fault(gradient), gradient)
        updates, state = optimizer.update(gradient, state, w)
        return optax.apply_updates(w, updates), state

    state = optimizer.init(w)
    for k in range(1000):
        w, state = step(w, state, k)
    return float(jnp.abs(w - target).max())


FAULTS = {
    "burst": lambda g: 1e4 * g,
    "infinity": lambda g: g.at[3].set(jnp.inf),
    "NaN": lambda g: g.at[3].set(jnp.nan),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["sgd", "adam", "lion"])
def test_optimizers_survive(name, fault):
    make = {
        "sgd": lambda: optax.sgd(0.05, 0.9),
        "adam": lambda: optax.adam(0.1),
        "lion": lambda: optax.lion(0.02),
    }[name]
    alone = train(make(), FAULTS[fault])
    guarded = train(optax.chain(guard(10.0), make()), FAULTS[fault])
    assert guarded < 0.3, (alone, guarded)
    # Only signs survive a burst, and infinity, on their own.
    assert not alone < 0.3 or name == "lion" or (name, fault) == ("adam", "burst")


def test_auto_is_sgd_behind_a_guard():
    by_hand = optax.chain(guard(1.0), fuld(0.1, 0.9, 2.0, weight_decay=0.1))
    auto = fuld(0.1, 0.9, "auto", weight_decay=0.1)
    x = jnp.ones(5)
    states = [optimizer.init(x) for optimizer in (by_hand, auto)]
    for gradient in faulty_gradients((5,), 5):
        steps = [
            optimizer.update(jnp.asarray(gradient), state, x)
            for optimizer, state in zip((by_hand, auto), states, strict=True)
        ]
        states = [state for _, state in steps]
        assert (steps[0][0] == steps[1][0]).all()


def test_transformed_steps():
    """The guard is mapped over clips, and differentiated with its decision as constant."""
    g = jnp.array([1.0, -2.0, 3.0, 100.0])

    def last(clip, g):
        transformation = guard(clip)
        _, state = transformation.update(g, transformation.init(g))
        return transformation.update(g, state)[0]

    clips = jnp.array([0.5, 1.0, 1e3])
    together = jax.vmap(last, in_axes=(0, None))(clips, g)
    one_by_one = jnp.stack([last(clip, g) for clip in (0.5, 1.0, 1e3)])
    np.testing.assert_allclose(together, one_by_one, rtol=1e-6)
    jacobian = jax.jacobian(lambda g: last(1.0, g))(g)
    np.testing.assert_array_equal(jacobian, np.diag([1.0, 1.0, 1.0, 0.0]))


@pytest.mark.parametrize("clip", [0.0, -1.0, math.nan])
def test_wrong_clips(clip):
    with pytest.raises(ValueError, match="clip must be positive, got"):
        guard(clip)
