"""A run or a long computation stops at once when requested, however slow it is."""

import signal
import threading
import time
from typing import Any

import fuld
import numpy as np
import pytest

from tests.test_interrupt import Script
from tests.wells import one_well, well


class Slow:
    """A function that becomes slow after a number of calls, until it is released."""

    def __init__(self, function, after, seconds):
        self.function = function
        self.after = after
        self.seconds = seconds
        self.calls = 0
        self.is_slow = threading.Event()
        self.hurry = threading.Event()

    def __call__(self, x):
        self.calls += 1
        if self.calls > self.after and not self.hurry.is_set():
            self.is_slow.set()
            self.hurry.wait(self.seconds)
        return self.function(x)


@pytest.fixture
def slow():
    """Make slow functions, which hurry in the end so that no run outlives its test."""
    made = []

    def make(*arguments):
        made.append(Slow(*arguments))
        return made[-1]

    yield make
    for function in made:
        function.hurry.set()


# Of a thousand chains that are called one by one, a step takes minutes.
SLOW = {"all": (well, 5000, 0.3, 4), "one": (one_well, 100_000, 0.3, 1000)}


@pytest.mark.parametrize("what", SLOW)
def test_stop_is_heard_after_the_call_under_way(slow, what):
    *arguments, chains = SLOW[what]
    function = slow(*arguments)
    settings: dict[str, Any] = {
        "seed": 0,
        "chains": chains,
        "draws": 10**5,
        "warmup": 0,
        "thin": 1,
        "output": "numpy",
    }
    handle = fuld.sample(function, dim=1, blocking=False, **settings)
    assert function.is_slow.wait(20)
    handle._stop()
    assert handle.wait(1)
    draws = handle.abort()["x"]
    made = draws.shape[1]
    assert made > 0
    whole = fuld.sample(well, dim=1, **{**settings, "draws": made})["x"]
    np.testing.assert_array_equal(draws, whole)


def test_the_first_steps_may_be_slow(slow):
    # Five calls are the trial's, the rest of one step, and of the gradient that it begins with.
    function = slow(well, 5, 0.2)
    handle = fuld.sample(function, dim=1, blocking=False, output="numpy")
    assert function.is_slow.wait(20)
    handle._stop()
    assert handle.wait(1)


def test_pause_is_heard_after_the_call_under_way(slow):
    function = slow(well, 5000, 0.3)
    # One call per step: an iteration of "exact" takes several.
    settings: dict[str, Any] = {"integrator": "baoab", "chains": 4, "draws": 10**6}
    handle = fuld.sample(function, dim=1, blocking=False, output="numpy", **settings)
    assert function.is_slow.wait(20)
    handle.pause()
    time.sleep(0.5)
    calls = function.calls
    time.sleep(1)
    assert function.calls == calls
    handle._stop()
    assert handle.wait(1)


def test_a_slow_function_is_called_once_a_step(slow):
    settings: dict[str, Any] = {
        "seed": 0,
        "dim": 1,
        "chains": 2,
        "warmup": 0,
        "thin": 1,
        "integrator": "baoab",
    }
    function = slow(well, 10**9, 0.0)
    fuld.sample(function, draws=1, output="numpy", **settings)
    trial = function.calls
    function = slow(well, trial, 0.02)
    fuld.sample(function, draws=25, output="numpy", **settings)
    assert function.calls == trial + 24


def test_a_stopped_run_goes_on_to_the_same_bytes(slow, tmp_path, same_code):
    settings: dict[str, Any] = {
        "seed": 0,
        "dim": 1,
        "chains": 10,
        "draws": 300,
        "warmup": 0,
        "thin": 10,
        "output": "numpy",
    }
    unbroken = fuld.sample(well, vectorized=False, store=tmp_path / "unbroken", **settings)["x"]
    function = slow(one_well, 10_000, 0.3)
    handle = fuld.sample(
        function, name="one_well", store=tmp_path / "broken", blocking=False, **settings
    )
    assert function.is_slow.wait(20)
    draws = handle.abort()["x"]
    assert 0 < draws.shape[1] < 300
    np.testing.assert_array_equal(draws, unbroken[:, : draws.shape[1]])
    resumed = fuld.sample(one_well, store=tmp_path / "broken", resume=True, **settings)["x"]
    np.testing.assert_array_equal(resumed, unbroken)


def test_what_the_last_call_raised_is_not_lost(slow):
    def failing(x):
        if tiring.is_slow.is_set():
            raise ArithmeticError("mine")
        return one_well(x)

    tiring: Any = slow(failing, 1000, 0.3)
    handle = fuld.sample(tiring, dim=1, chains=10, draws=10**5, blocking=False, output="numpy")
    assert tiring.is_slow.wait(20)
    with pytest.raises(ArithmeticError, match="mine"):
        handle.abort()


class Heard(Exception):
    """Raised by a signal's handler, as KeyboardInterrupt is by that of Ctrl-C."""


@pytest.fixture
def soon():
    """A signal comes in 0.1 s."""

    def raise_heard(*_):
        raise Heard

    before = signal.signal(signal.SIGALRM, raise_heard)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


LAW = fuld.SymmetricStable(1.5)


# Each takes more than 1.5 s where there are two cores.
@pytest.mark.parametrize(
    "work",
    [
        lambda: LAW.pdf(np.full(8_000_000, 0.3)),
        lambda: LAW.ppf(np.full(4_000_000, 0.3, np.float32)),
        lambda: fuld.grad_g(np.full(8_000_000, 0.3), 1.5),
        lambda: fuld.SymmetricStable(np.linspace(1.1, 1.9, 800_000)).pdf(0.3),
        lambda: fuld.riesz(np.ones((1000, 16384)), dx=0.1, order=0.5),
        lambda: fuld.sample("x^4/4", system="flmc", draws=1, chains=1, output="numpy"),
    ],
    ids=["pdf", "ppf", "grad_g", "laws", "riesz", "flmc"],
)
@pytest.mark.usefixtures("soon")
def test_a_signal_is_heard_in_long_work(work):
    began = time.monotonic()
    with pytest.raises(Heard):
        work()
    assert time.monotonic() - began < 1


def test_ctrl_c_thrice_ends_the_process_in_a_function_that_never_returns():
    script = Script("""
        def never(x):
            calls.append(0)
            if len(calls) == 20:
                print("ready", flush=True)
                while True:
                    time.sleep(0.2)
            return well(x)
        calls = []
        fuld.sample(never, draws=10**6, chains=4, output="numpy")
    """).ready()
    for after in (0.3, 0.3, 3.0):
        script.send(signal.SIGINT, after)
    _, printed = script.end(130)
    assert "waiting for it, Ctrl-C ends at once" in printed
    assert printed.endswith("fuld: ended in the middle of a call\n")
