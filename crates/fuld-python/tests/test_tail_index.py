"""Tail indices: the numbers of the Rust side, whatever the data comes in, and errors that help."""

import _thread
import dataclasses
import os
import pickle
import subprocess
import sys
import threading
import time

import fuld
import numpy as np
import pytest
from numpy.typing import NDArray

# `fuld tail-index x.npy --json --seed 3`, and the same of rows.npy with --resamples 99 --level 0.8:
# alpha, its interval; scale, its interval; alpha of Gaussian numbers, its interval.
NUMBERS: dict[str, list[tuple[float, float, float] | None]] = {
    "characteristic": [
        (0.9506906238750965, 0.8217089431721322, 1.0568437711302152),
        (0.6564298510900997, 0.5739405594027472, 0.7267069627705197),
        (2.0, 1.9615055502660357, 2.0),
    ],
    "blocks": [
        (0.9742088295956494, 0.8983552334133298, 1.085038856998941),
        (0.6627984019018128, 0.5841410733904308, 0.7450235970754715),
        (1.9901933618436187, 1.8050100938561848, 2.0),
    ],
    "log-moments": [
        (0.974936150939879, 0.8967729968879955, 1.0992020564096725),
        (0.6630914329535991, 0.5810831851509164, 0.7566980722510004),
        (1.869158000818169, 1.4747032916561456, 2.0),
    ],
    "hill": [
        (1.035656196799071, 0.8459052418182277, 1.4060493257298379),
        None,
        (5.687036316164701, 4.432241113289324, 7.293099045538827),
    ],
}
ROWS = {
    "characteristic": (0.9508462709752384, 0.8533228843750537, 1.016328106986303),
    "hill": (1.0357377892768456, 0.8985671662441328, 1.3359547884823249),
}


def numbers() -> NDArray[np.float64]:
    """Heavy on both sides, and made by exact arithmetic: the same bits everywhere."""
    t = (np.arange(1, 501) * 7919 % 1009 - 504) / 504.5
    return t / (1 - t * t)


def rows() -> NDArray[np.float64]:
    x = numbers()
    return np.stack([x[:250], 10 * x[250:]], axis=1)


@pytest.mark.parametrize("method", NUMBERS)
def test_says_what_the_command_says(method):
    found = fuld.tail_index(numbers(), method, seed=3)
    reported = [
        (found.alpha, found.alpha_interval),
        (found.scale, found.scale_interval),
        (found.gaussian_alpha, found.gaussian_interval),
    ]
    for (value, interval), expected in zip(reported, NUMBERS[method], strict=True):
        if expected is None:
            assert (value, interval) == (None, None)
        else:
            assert interval is not None
            assert (value, *interval) == pytest.approx(expected, rel=1e-14)
    assert (found.method, found.level, found.n, found.dimension) == (method, 0.9, 500, 1)
    assert found.zeros == 0
    assert found.heavy


@pytest.mark.parametrize("method", ROWS)
def test_rows_are_what_the_command_says(method):
    found = fuld.tail_index(rows(), method, seed=3, resamples=99, level=0.8)
    assert (found.alpha, *found.alpha_interval) == pytest.approx(ROWS[method], rel=1e-14)
    assert (found.n, found.dimension) == (250, 2)


def test_intervals_are_those_pinned_in_rust():
    x = np.tan(1.5 * np.sin(np.arange(1, 101) ** 2))
    interval = fuld.tail_index(x, "log-moments", seed=5).alpha_interval
    assert interval == pytest.approx((0.981251031207918, 1.3645281447222646), abs=1e-11)


def test_every_container_and_layout_is_the_same():
    x = rows()
    expected = fuld.tail_index(x, "log-moments")
    wide = np.zeros((500, 4))
    wide[::2, 1:3] = x
    for same in (x.tolist(), np.asfortranarray(x), wide[::2, 1:3]):
        assert fuld.tail_index(same, "log-moments") == expected
    frozen = x.copy()
    frozen.flags.writeable = False
    assert fuld.tail_index(frozen, "log-moments") == expected
    single = x.astype(np.float32)
    assert fuld.tail_index(single) == fuld.tail_index(single.astype(np.float64))
    squares = np.arange(40) ** 2
    assert fuld.tail_index(squares) == fuld.tail_index(squares.astype(float))
    assert fuld.tail_index(x[:, :1], "hill") == fuld.tail_index(x[:, 0], "hill")


def test_scaling_takes_the_scales_of_coordinates_away():
    x = rows()
    far_apart = x * [1.0, 1e6]
    alpha = fuld.tail_index(x, "log-moments").alpha
    assert fuld.tail_index(far_apart, "log-moments").alpha == pytest.approx(alpha, rel=1e-9)
    assert fuld.tail_index(far_apart, "log-moments", scaling="common").alpha < alpha / 2


def test_settings_reach_their_methods():
    x = numbers()
    plain = fuld.tail_index(x, "blocks", control=False)
    assert fuld.tail_index(x, "blocks", sizes=[4, 6, 8, 12, 16], lags=8, control=False) == plain
    assert fuld.tail_index(x, "blocks", sizes=(10,), control=False).alpha != plain.alpha
    assert fuld.tail_index(x, "blocks", lags=1, control=False).alpha != plain.alpha
    assert fuld.tail_index(x, "hill", k=31) == fuld.tail_index(x, "hill")
    assert fuld.tail_index(x, "hill", k=30).alpha != fuld.tail_index(x, "hill").alpha
    assert fuld.tail_index(x, rounds=1).alpha != fuld.tail_index(x).alpha
    assert fuld.tail_index(x, seed=1).alpha_interval != fuld.tail_index(x).alpha_interval
    assert fuld.tail_index(x, seed=np.uint64(2**64 - 1)).alpha == fuld.tail_index(x).alpha


def test_gaussian_numbers_are_not_heavy():
    found = fuld.tail_index(np.random.default_rng(1).normal(size=2000))
    assert found.alpha > 1.9
    assert found.heavy is False
    assert fuld.tail_index(numbers(), control=False).heavy is None


def test_results_are_values():
    found = fuld.tail_index(numbers(), seed=3)
    assert pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(fuld.tail_index(numbers(), seed=3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.alpha = 1.0  # type: ignore[misc]


def test_representation():
    assert repr(fuld.tail_index(numbers(), seed=3)) == (
        "TailIndex(alpha=0.95 [0.82, 1.06], scale=0.66 [0.57, 0.73], "
        "gaussian_alpha=2.000 [1.962, 2.000], method='characteristic', level=0.9, n=500)"
    )
    small = fuld.tail_index(1e-12 * rows(), "log-moments", control=False)
    assert "scale=2.10e-12 [1.8" in repr(small)
    assert repr(small).endswith("method='log-moments', level=0.9, n=250, dimension=2)")
    assert "scale" not in repr(fuld.tail_index(numbers(), "hill"))
    big = fuld.tail_index(1e12 * numbers(), control=False)
    assert "scale=6.6e+11 [5.8e+11, 7.3e+11]" in repr(big)
    # An end that is not 0 does not look like it, however wide the interval.
    wide = dataclasses.replace(big, scale=3.0, scale_interval=fuld.Interval(0.0123, 41.0))
    assert "scale=3.000 [0.012, 41.000]" in repr(wide)
    wider = dataclasses.replace(big, scale=3.0, scale_interval=fuld.Interval(1e-9, 41.0))
    assert "scale=3.0e+00 [1.0e-09, 4.1e+01]" in repr(wider)
    # The median of an odd number of numbers is no news.
    assert "zeros" not in repr(dataclasses.replace(big, zeros=1))
    assert repr(dataclasses.replace(big, zeros=2)).endswith("n=500, zeros=2)")


def test_resamples_without_an_estimate_are_drawn_again():
    rng = np.random.default_rng(5)
    cauchy = rng.standard_cauchy(1000)
    for k in (1, 2, 5):
        hill = fuld.tail_index(cauchy, "hill", k=k)
        assert 0 < hill.alpha_interval.low < hill.alpha < hill.alpha_interval.high < np.inf
        assert hill == fuld.tail_index(cauchy, "hill", k=k)
    # Samples so small that the regression finds no line through many resamples and twins.
    for n in (12, 20, 30):
        few = fuld.tail_index(rng.standard_cauchy(n))
        assert few.alpha_interval.low < few.alpha_interval.high


def broken(index: tuple[int, ...], value: float) -> NDArray[np.float64]:
    x = numbers() if len(index) == 1 else rows()
    x[index] = value
    return x


@pytest.mark.parametrize(
    ("x", "settings", "message"),
    [
        (broken((17,), np.nan), {}, r"x\[17\] is NaN; numbers must be finite"),
        (broken((3, 1), -np.inf), {}, r"x\[3, 1\] is -inf; numbers must be finite"),
        ([1.0, 2.0, 4.0], {}, "at least 10 numbers .* got 3"),
        ([], {}, "at least 10 numbers .* got 0"),
        (np.ones(50), {}, "x is 1 throughout"),
        (rows() * [1, 0], {}, r"x\[:, 1\] is 0 throughout"),
        (np.r_[np.zeros(200), 1:41], {}, "half of x is one number.*control=False"),
        (numbers().reshape(5, 10, 10), {}, r"got shape \(5, 10, 10\); x.reshape\(-1\)"),
        (1.5, {}, r"got shape \(\)"),
        (np.zeros((20, 0)), {}, "rows without numbers"),
        ([[1.0], [2.0, 3.0]], {}, "x is not an array of numbers"),
        (numbers(), {"method": "hil"}, "did you mean .hill."),
        (numbers(), {"method": "logmoments"}, "did you mean .log-moments."),
        (
            numbers(),
            {"method": "mean"},
            "there are characteristic, blocks, log-moments, hill",
        ),
        (numbers(), {"level": 90}, "0 < level < 1, got 90"),
        (numbers(), {"level": np.nan}, "0 < level < 1, got NaN"),
        (numbers(), {"resamples": 10}, "at least 19 resamples, got 10"),
        (numbers(), {"seed": -1}, "seed must be at least 0 .* got -1"),
        (numbers(), {"scaling": "comon"}, "'per-coordinate' or 'common', got 'comon'"),
        (numbers(), {"rounds": 0}, "rounds must be at least 1"),
        (numbers(), {"method": "blocks", "sizes": []}, "at least one block size"),
        (numbers(), {"method": "blocks", "sizes": [4, 1]}, "at least 2 numbers, got 1"),
        (numbers(), {"method": "hill", "k": 0}, "at least 1, got 0"),
        (numbers(), {"method": "hill", "k": 500}, "at least 501 numbers"),
    ],
)
def test_bad_values_are_named(x, settings, message):
    with pytest.raises(ValueError, match=message):
        fuld.tail_index(x, **settings)


@pytest.mark.parametrize(
    ("x", "settings", "message"),
    [
        (numbers() + 1j, {}, "x must hold real numbers, got an array of dtype complex128"),
        (["a"] * 20, {}, "x must hold real numbers"),
        (np.ma.array(numbers()), {}, "masked array"),
        (numbers(), {"method": None}, "method must be a name"),
        (numbers(), {"method": "hill", "lags": 3}, "'hill' has no setting lags; it has k"),
        (numbers(), {"method": "log-moments", "k": 3}, "has no setting k; it has none"),
        (numbers(), {"k": 3}, "'characteristic' has no setting k; it has rounds"),
        (numbers(), {"method": "blocks", "sizes": 4}, "sizes must be several"),
        (numbers(), {"resamples": 99.5}, "resamples must be a whole number, got 99.5"),
        (numbers(), {"level": "0.9"}, "level must be a number, got '0.9'"),
    ],
)
def test_bad_types_are_named(x, settings, message):
    with pytest.raises(TypeError, match=message):
        fuld.tail_index(x, **settings)


def test_interrupts_stop_a_long_bootstrap():
    x = np.random.default_rng(1).standard_cauchy(100_000)
    threading.Timer(0.3, _thread.interrupt_main).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fuld.tail_index(x, resamples=10_000)  # minutes, if nothing stops it
    assert time.monotonic() - start < 10


def test_other_threads_go_on():
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    fuld.tail_index(np.random.default_rng(1).standard_cauchy(10_000), control=False)
    done.set()
    thread.join()
    assert counted > 5


def run(script: str, **environment: str) -> str:
    """Return the output of another interpreter; one that hangs is ended."""
    prelude = "import numpy as np, fuld; x = np.random.default_rng(1).standard_cauchy(500)\n"
    command = [sys.executable, "-W", "ignore", "-c", prelude + script]
    env = {**os.environ, **environment}
    return subprocess.run(
        command, env=env, timeout=60, check=True, capture_output=True, text=True
    ).stdout


def test_threads_change_nothing():
    script = "found = fuld.tail_index(x); print(found.alpha_interval, found.gaussian_interval)"
    assert run(script, RAYON_NUM_THREADS="1") == run(script, RAYON_NUM_THREADS="5")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_forked_children_have_threads_too():
    script = """
import multiprocessing
def alpha(seed):
    return fuld.tail_index(x, "hill", seed=seed).alpha_interval.low
here = [alpha(seed) for seed in range(3)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(alpha, range(3)) == here)
"""
    assert run(script) == "True\n"
