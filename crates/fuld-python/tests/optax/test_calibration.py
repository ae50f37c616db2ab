"""The calibration in JAX agrees with that in Rust, number by number, on the same gradients."""

import functools
import itertools
import math

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
optax = pytest.importorskip("optax")

from fuld import SymmetricStable, _native  # noqa: E402
from fuld.optax import calibration, fuld  # noqa: E402
from fuld.optax._sampled_positions import count, positions  # noqa: E402

# No array of size 1: in units of its own mean each of its differences is ±1, and second differences
# consist of rounding errors.
SHAPES = {"matrix": (70, 40), "bias": (90,), "few": (3, 2)}
STEPS = 60


def noise(alpha, scale=1e-3):
    law = SymmetricStable(alpha, scale)
    random = np.random.default_rng(11)
    while True:
        yield {k: np.asarray(law.rvs(shape, random), np.float32) for k, shape in SHAPES.items()}


def spread():
    """Scales over four decades, and a centre that drifts."""
    for step, g in enumerate(noise(1.5, 1.0)):
        tilt = {
            k: np.logspace(-4, 0, x.size, dtype=np.float32).reshape(x.shape) for k, x in g.items()
        }
        yield {k: tilt[k] * (x + np.float32(step / 50)) for k, x in g.items()}


def zeros():
    """A third of the coordinates dead, and at some steps all."""
    for step, g in enumerate(noise(1.4)):
        alive = {k: np.arange(x.size).reshape(x.shape) % 3 != 1 for k, x in g.items()}
        yield {k: x * (alive[k] & (step % 7 != 3)) for k, x in g.items()}


def accidents():
    """Numbers that are none, in single gradients; where momentum keeps them it is NaN for good."""
    for step, g in enumerate(noise(1.6)):
        for bad, when in ((np.nan, 9), (np.inf, 18), (-np.inf, 27)):
            if step == when:
                g["matrix"][::9, step] = bad
        yield g


STREAMS = {
    "heavy": lambda: noise(1.1),
    "middling": lambda: noise(1.5),
    "light": lambda: noise(1.8, 1e3),
    "Gaussian": lambda: noise(2.0),
    "spread": spread,
    "zeros": zeros,
    "accidents": accidents,
    "nothing": lambda: ({k: np.zeros(s, np.float32) for k, s in SHAPES.items()} for _ in range(99)),
}


@functools.cache
def training(**settings):
    """Return a function from a stream to the inputs and outputs of each step.

    It is compiled once for all streams.
    """
    optimizer = fuld(1e-2, **{"alpha": "auto", "noise_scale": "auto", **settings})

    def step(carry, g):
        params, state = carry
        updates, new = optimizer.update(g, state, params)
        before = (
            optax.tree.get(state, "trace", params),
            params,
            optax.tree.get(state, "calibration"),
        )
        after = optax.tree.get(new, "calibration").numbers, calibration(new, params)
        return (optax.apply_updates(params, updates), new), (before, after)

    params = {k: jnp.ones(shape) for k, shape in SHAPES.items()}
    return jax.jit(
        lambda gradients: jax.lax.scan(step, (params, optimizer.init(params)), gradients)[1]
    )


@pytest.mark.parametrize(
    ("stream", "settings"),
    [
        *((stream, {"momentum": momentum}) for stream in STREAMS for momentum in (None, 0.9)),
        ("middling", {"momentum": 0.9, "weight_decay": 1e-3}),
        ("spread", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        ("Gaussian", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        ("middling", {"momentum": 0.9, "alpha": 1.3}),
        ("middling", {"momentum": 0.9, "alpha": 2.0}),
        ("heavy", {"momentum": 0.9, "noise_scale": 2e-3}),
    ],
)
def test_as_rust_has_it(stream, settings):
    steps = list(itertools.islice(STREAMS[stream](), STEPS))
    gradients = {k: np.stack([g[k] for g in steps]) for k in SHAPES}
    (buffers, params, states), (numbers, found) = training(**settings)(gradients)
    settings = {**settings, "momentum": settings["momentum"] or 0.0}
    # In the order in which trees are flattened.
    for row, (k, shape) in enumerate(sorted(SHAPES.items())):
        size = math.prod(shape)
        rust_numbers, rust_found = [], []
        for step in range(STEPS):
            # Every step starts from the state of JAX. Over many steps rounding errors grow: the
            # limit has an infinite derivative where the spread τ is 0, clips the momentum, and
            # depends on it through alpha, which jumps from one value of its grid to the next.
            sampled = (part[step, row, : count(size)] for part in (states.previous, states.pair))
            state = np.concatenate([states.numbers[step, :, row], *sampled])
            at = _native.calibration_positions(state, size)
            arrays = (gradients[k][step], buffers[k][step], params[k][step])
            observed = (np.asarray(array, np.float32).reshape(-1)[at] for array in arrays)
            state, estimates = _native.calibration_observe(state, size, *observed, **settings)
            rust_numbers.append(state[: numbers.shape[1]])
            rust_found.append(estimates)
        for name, our, their in zip(
            found[k]._fields, found[k], np.transpose(rust_found), strict=True
        ):
            # Spreads near 0 and momenta near 0 amplify rounding errors of single precision, most of
            # all in an array of size 6; and a coordinate of the sample may be next to the knee.
            within = {"momentum_knee": 5e-3, "limit": 5e-3, "beyond_knee": 6e-2}.get(name, 3e-4)
            np.testing.assert_allclose(our, their, within, 1e-6, err_msg=f"{name} of {k}")
        ours, theirs = np.moveaxis(numbers, 1, 0)[..., row], np.transpose(rust_numbers)
        for sums, within in ((slice(5, 9), 2e-5), (slice(9, 13), 2e-3)):
            np.testing.assert_allclose(ours[sums], theirs[sums], within, 1e-6)
        # A covariance is a difference of sums.
        np.testing.assert_allclose(ours[13:18], theirs[13:18], 5e-3, 1e-3)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (64,), (65,), (13, 17, 19), (1024, 40)])
def test_places_are_those_of_rust(shape):
    size = int(np.prod(shape))
    known = _native.calibration_start(size)
    assert count(size) == len(_native.calibration_positions(known, size))
    for quadruple in (0, 1, 77, 4_000_000):
        known[0] = 4 * quadruple + 2
        where = jax.jit(lambda q: positions(shape, q))(np.uint32(quadruple))
        flat = np.ravel_multi_index(where, shape) if shape else [0]
        np.testing.assert_array_equal(flat, _native.calibration_positions(known, size))


@pytest.mark.parametrize("shape", [(2**21, 2**20), (2**21 + 5, 2**20 - 3), (3, 2**31 - 5)])
def test_places_of_more_than_32_bits_can_count(shape):
    size = math.prod(shape)
    known = _native.calibration_start(size)
    for quadruple in (0, 3):
        known[0] = 4 * quadruple
        rows, columns = positions(shape, jnp.uint32(quadruple))
        flat = np.asarray(rows, np.int64) * shape[1] + np.asarray(columns)
        np.testing.assert_array_equal(flat, _native.calibration_positions(known, size))
