"""Draws: their law, their stream, their shapes."""

from typing import Any, cast

import numpy as np
import pytest
from fuld import SymmetricStable

SEED = 20200713


def kolmogorov_smirnov(law, draws):
    """The root of n times the largest distance between the cdf and that of the draws."""
    cdf = law.cdf(np.sort(draws))
    n = len(draws)
    above, below = np.arange(1, n + 1) / n - cdf, cdf - np.arange(n) / n
    return np.sqrt(n) * max(above.max(), below.max())


# A right sampler exceeds 2.5 with probability 2 exp(-2 * 2.5**2) = 7.5e-6, so that one of these
# tests is red for 1 in 10,000 seeds.  A scale that is wrong by 5 % is far above it.
CRITICAL = 2.5


@pytest.mark.parametrize("alpha", [0.15, 0.5, 0.9, 1.0, 1.2, 1.5, 1.9, 2.0])
def test_draws_have_the_law(alpha):
    law = SymmetricStable(alpha, 3.0)
    draws = law.rvs(300_000, np.random.default_rng(SEED))
    assert kolmogorov_smirnov(law, draws) < CRITICAL
    # The power of the test.
    wrong = SymmetricStable(alpha, 3.0 * 1.05 ** max(1.0, 1.0 / alpha))
    assert kolmogorov_smirnov(wrong, draws) > CRITICAL


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_one_word_a_draw(kind):
    law, n = SymmetricStable(1.5, 2.0), 100_000
    ours, peer = np.random.Generator(kind(1)), np.random.Generator(kind(1))
    draws = law.rvs(n, ours)
    words = peer.integers(0, 2**64, n, dtype=np.uint64)
    assert ours.integers(2**63) == peer.integers(2**63)
    # The top bit is the sign, the others are the probability in one tail.
    q = ((words & np.uint64(2**63 - 1)) | np.uint64(1)).astype(float) / 2.0**64
    exact = np.where(words >> np.uint64(63), -1.0, 1.0) * law.isf(q)
    np.testing.assert_allclose(draws, exact, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("alpha", [0.1, 1.5, [1.2, 1.7, 1.2]])
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_draws_are_a_stream(alpha, make):
    law = SymmetricStable(alpha)
    tail = np.shape(alpha)
    whole = law.rvs((300_000, *tail), make(SEED))
    generator = make(SEED)
    parts = [law.rvs((n, *tail), generator) for n in (3, 2, 0, 270_000, 29_995)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_random_state_as_in_scipy():
    law = SymmetricStable(1.5)
    seeded = law.rvs(5, 7)
    np.testing.assert_array_equal(law.rvs(5, np.random.RandomState(7)), seeded)
    np.testing.assert_array_equal(law.rvs(5, np.int32(7)), seeded)
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(7)  # noqa: NPY002
        np.testing.assert_array_equal(law.rvs(5), seeded)
        np.random.seed(7)  # noqa: NPY002
        np.testing.assert_array_equal(law.rvs(5, np.random), seeded)
    finally:
        np.random.set_state(state)  # noqa: NPY002
    assert not np.array_equal(law.rvs(5), law.rvs(5))
    bad: Any
    for bad in ("7", 1.5, np.random.PCG64(1), np):
        with pytest.raises(TypeError, match="random_state must be None, an integer"):
            law.rvs(5, bad)


def test_shapes():
    law, laws = SymmetricStable(1.5), SymmetricStable([[1.2], [1.5]], [1.0, 2.0, 3.0])
    assert type(law.rvs()) is np.float64
    assert type(law.rvs(dtype=np.float32)) is np.float32
    assert law.rvs(1).shape == (1,)
    assert law.rvs((2, 0)).shape == (2, 0)
    assert law.rvs(np.int64(4)).shape == law.rvs([4]).shape == (4,)
    assert laws.rvs().shape == laws.rvs((2, 3)).shape == (2, 3)
    assert laws.rvs((5, 2, 3)).shape == (5, 2, 3)
    for size in (3, (2, 4), (3, 2), (2, 3, 1)):
        with pytest.raises(ValueError, match=r"cannot hold draws of laws of shape \(2, 3\)"):
            laws.rvs(size)
    with pytest.raises(ValueError, match="size must not be negative, got -1"):
        law.rvs(-1)
    for size in (2**70, (2**40, 2**40)):
        with pytest.raises(ValueError, match="asks for more numbers than a computer can hold"):
            law.rvs(size)
    with pytest.raises(TypeError, match=r"size must be an integer .* got 2.5"):
        law.rvs(cast(Any, 2.5))
    with pytest.raises(TypeError, match="dtype must be float32 or float64, got int64"):
        law.rvs(2, dtype=np.int64)


def test_arrays_of_laws_draw_as_their_members_do():
    alpha, scale = np.array([[1.2], [1.5]]), np.arange(1.0, 7.0).reshape(2, 3)
    draws = SymmetricStable(alpha, scale).rvs(random_state=np.random.default_rng(1))
    generator = np.random.default_rng(1)
    pairs = zip(np.repeat(alpha, 3), scale.ravel(), strict=True)
    singly = [SymmetricStable(a, s).rvs(random_state=generator) for a, s in pairs]
    np.testing.assert_array_equal(draws.ravel(), singly)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_scales(dtype):
    scale = np.linspace(1, 2, 300_001)
    draws = SymmetricStable(1.5, scale).rvs(None, np.random.default_rng(1), dtype)
    unit = SymmetricStable(1.5).rvs(scale.size, np.random.default_rng(1))
    np.testing.assert_array_equal(draws, (scale * unit).astype(dtype))


def test_single_precision_is_double_rounded():
    for law in (SymmetricStable(1.5, 0.3), SymmetricStable([1.5, 1.2], [0.3, 1e30])):
        double = law.rvs((1000, *np.shape(law.alpha)), np.random.default_rng(1))
        single = law.rvs((1000, *np.shape(law.alpha)), np.random.default_rng(1), np.float32)
        np.testing.assert_array_equal(single, double.astype(np.float32), strict=True)
