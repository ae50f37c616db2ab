"""Functions as potentials: how they are called, and what they may return."""

import math
import threading
import warnings
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import one_well, well

FEW: dict[str, Any] = {
    "chains": 5,
    "draws": 6,
    "warmup": 10,
    "thin": 2,
    "seed": 0,
    "output": "numpy",
}


def draws(function, **settings):
    return fuld.sample(function, **{**FEW, **settings})["x"]


class Shapes:
    """A function that remembers what it was called with."""

    def __init__(self, function):
        self.function, self.seen = function, set()

    def __call__(self, x, *words):
        self.seen.add(x.shape)
        return self.function(x, *words)


@pytest.mark.parametrize("dim", [1, 2, 5, 7])
@pytest.mark.parametrize("chains", [1, 2, 5])
def test_how_a_function_wants_to_be_called_is_found_out(dim, chains):
    many, one = Shapes(well), Shapes(one_well)
    settings: dict[str, Any] = {"dim": dim, "chains": chains}
    x = draws(many, **settings)
    np.testing.assert_allclose(draws(one, **settings), x, rtol=1e-9)
    assert (chains, dim) in many.seen
    assert (dim,) not in many.seen
    assert (dim,) in one.seen


def test_what_users_say_is_not_tried():
    shapes = Shapes(well)
    x = draws(shapes, dim=2, vectorized=False)
    assert shapes.seen == {(2,)}
    np.testing.assert_array_equal(x, draws(well, dim=2, vectorized=True))
    shapes = Shapes(well)
    draws(shapes, dim=2, vectorized=True)
    assert shapes.seen == {(5, 2), (2, 2)}  # the last for the check of the gradient


def test_with_one_coordinate_its_axis_may_be_left_out():
    x = draws(well)
    np.testing.assert_array_equal(draws(lambda x: (x**4 / 4 - x**2 / 2, x**3 - x)), x)
    flat = draws(lambda x: ((x**4 / 4 - x**2 / 2)[:, 0], (x**3 - x)[:, 0]))
    np.testing.assert_array_equal(flat, x)

    def plain(x):
        x = float(x[0])
        return x**4 / 4 - x**2 / 2, x**3 - x

    np.testing.assert_allclose(draws(plain, vectorized=False), x, rtol=1e-9)


def test_a_function_of_plain_floats():
    x = draws(lambda x: (math.fsum(c**4 / 4 - c**2 / 2 for c in x), [c**3 - c for c in x]), dim=3)
    np.testing.assert_allclose(x, draws(well, dim=3), rtol=1e-9)


def test_a_function_that_means_one_point_but_could_take_many_is_recognised():
    # Differences along the first axis: for many points those are chains.
    def walk(x):
        return 0.5 * (np.diff(x, axis=0, prepend=0) ** 2).sum(axis=-1), x - x.mean(axis=0)

    shapes = Shapes(walk)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its gradient is no gradient
        draws(shapes, dim=2)
    assert (2,) in shapes.seen


def test_a_function_that_mixes_chains_is_refused():
    def mixing(x):
        x = x - x[:, :].mean(axis=0)  # fails for one point
        return 0.5 * (x**2).sum(axis=1), x

    with pytest.raises(ValueError, match="mixes chains, or is random"):
        draws(mixing, dim=2)
    with pytest.warns(UserWarning, match="gradient"):  # nor is it one, for a chain
        assert draws(mixing, dim=2, vectorized=True).shape == (5, 6, 2)


@pytest.mark.parametrize(
    "convert",
    [
        lambda value, slope: (value.tolist(), slope.tolist()),
        lambda value, slope: (value, np.asfortranarray(slope)),
        lambda value, slope: (value, np.repeat(slope, 2, axis=1)[:, ::2]),
        lambda value, slope: (value, slope.astype(">f8")),
        lambda value, slope: (value, _read_only(slope)),
    ],
    ids=["lists", "fortran", "strided", "big-endian", "read-only"],
)
def test_arrays_of_every_layout(convert):
    expected = draws(well, dim=3)
    np.testing.assert_array_equal(draws(lambda x: convert(*well(x)), dim=3), expected)


def _read_only(array):
    array.flags.writeable = False
    return array


def test_single_precision_is_widened():
    x = draws(lambda x: tuple(a.astype(np.float32) for a in well(x)), dim=2)
    np.testing.assert_allclose(x, draws(well, dim=2), rtol=1e-4)
    assert not np.array_equal(x, draws(well, dim=2))


def test_whole_numbers_are_numbers():
    assert draws(lambda x: (np.abs(x).sum(axis=1), np.sign(x).astype(int)), dim=2).shape[2] == 2


def test_jax():
    jax = pytest.importorskip("jax")
    function = jax.vmap(jax.value_and_grad(lambda x: (x**4 / 4 - x**2 / 2).sum()))
    np.testing.assert_allclose(draws(jax.jit(function), dim=2), draws(well, dim=2), rtol=1e-4)
    one = jax.jit(jax.value_and_grad(lambda x: (x**4 / 4 - x**2 / 2).sum()))
    np.testing.assert_allclose(draws(one, dim=2), draws(well, dim=2), rtol=1e-4)


def test_torch():
    torch = pytest.importorskip("torch")

    def function(x):
        x = torch.from_numpy(x).requires_grad_()
        value = (x**4 / 4 - x**2 / 2).sum(dim=1)
        (slope,) = torch.autograd.grad(value.sum(), x)
        return value, slope

    np.testing.assert_allclose(draws(function, dim=2), draws(well, dim=2), rtol=1e-9)


def test_the_points_belong_to_the_function():
    kept = []

    def careless(x):
        kept.append(x)
        answer = well(x)
        x += 1e6  # what it does to its points is its own affair
        return answer

    np.testing.assert_array_equal(draws(careless, dim=2), draws(well, dim=2))
    assert len({a.ctypes.data for a in kept[-10:]}) == 10


def test_a_function_may_use_locks_threads_and_the_package():
    lock, thread = threading.Lock(), []

    def busy(x):
        with lock:
            thread.append(threading.get_ident())
            if len(thread) == 8:
                fuld.sample("x^2/2", chains=2, draws=2, output="numpy")
                fuld.sample(well, chains=2, draws=2, output="numpy")
        return well(x)

    np.testing.assert_array_equal(draws(busy), draws(well))
    assert len(set(thread)) == 2  # the caller's, in the trial, and the run's


def test_minibatches_are_chosen_by_words():
    rows = np.random.default_rng(0).normal(2.0, 1.0, size=(40, 2))
    seen = []

    def minibatch(x, words):
        """The mean of N(mean, 1), from 8 of 40 rows for each chain."""
        seen.append(words.copy())
        chosen = np.stack([np.random.default_rng(int(w)).integers(40, size=8) for w in words])
        apart = x[:, None, :] - rows[chosen]
        return 40 / 16 * (apart**2).sum(axis=(1, 2)), 40 / 8 * apart.sum(axis=1)

    settings: dict[str, Any] = {
        "dim": 2,
        "stochastic": True,
        "step": 0.02,
        "chains": 4,
        "draws": 200,
    }
    x = draws(minibatch, **settings, start=rows.mean(axis=0))
    seen = seen[-50:]
    assert all(words.shape == (4,) and words.dtype == np.uint64 for words in seen)
    # Others for every chain and every step.
    used = np.unique(np.concatenate(seen))
    assert len(used) > 190
    np.testing.assert_array_equal(draws(minibatch, **settings, start=rows.mean(axis=0)), x)
    # The mean of the posterior is that of the rows; 0.15 is more than five standard errors.
    assert x.mean(axis=(0, 1)) == pytest.approx(rows.mean(axis=0), abs=0.15)


def test_a_minibatch_for_one_point_has_one_word():
    def one(x, word):
        assert isinstance(word, int)
        return 0.5 * float(x @ x) * (1 + word % 2), x * (1 + word % 2)

    assert draws(one, dim=2, stochastic=True, vectorized=False).shape == (5, 6, 2)


def test_overflow_in_a_run_does_not_warn():
    calls = []

    def overflowing(x):
        calls.append(0)
        if len(calls) > 20:
            np.exp(np.full(3, 1e3)) * np.zeros(3)
        return well(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", fuld.SamplingWarning)
        assert np.isfinite(draws(overflowing, draws=100)).all()
    assert len(calls) > 20
