"""Runs in the background, held by a handle."""

import gc
import threading
import time
from pathlib import Path
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import far_well, slow_well, well

LONG: dict[str, Any] = {"draws": 10**7, "chains": 4, "output": "numpy", "blocking": False}
SHORT: dict[str, Any] = {"seed": 0, "draws": 200, "chains": 4, "output": "numpy"}


def until(condition, seconds=5.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def threads():
    """Threads of runs in this process, and those that they started."""
    names = (path / "comm" for path in Path("/proc/self/task").iterdir())
    return sum(name.read_text().strip() == "fuld" for name in names if name.exists())


def test_result_is_that_of_a_blocking_call():
    handle = fuld.sample("x^2/2", blocking=False, **SHORT)
    x = handle.result(timeout=10)["x"]
    np.testing.assert_array_equal(x, fuld.sample("x^2/2", **SHORT)["x"])
    assert handle.finished
    assert handle.result() is handle.result()
    assert handle.progress.fraction == 1.0
    assert handle.progress.draws == 200
    np.testing.assert_array_equal(handle.peek()["x"], x)
    np.testing.assert_array_equal(handle.abort()["x"], x)
    assert repr(handle) == "<fuld.Sampling, finished>"


def test_peek_at_the_end_takes_nothing_away():
    handle = fuld.sample("x^2/2", blocking=False, **SHORT)
    handle.wait()
    np.testing.assert_array_equal(handle.peek()["x"], handle.peek()["x"])
    assert handle.result()["x"].shape == (4, 200)


@pytest.mark.parametrize("potential", ["x^2/2", well], ids=["formula", "function"])
def test_a_run_that_is_paused_makes_no_steps(potential):
    with fuld.sample(potential, **LONG) as handle:
        until(lambda: handle.progress and handle.progress.draws > 10)
        handle.pause()
        assert handle.paused
        time.sleep(0.3)  # it hears of it within a tenth
        there = handle.progress.steps
        made = handle.peek()["x"].shape[1]
        assert made == handle.progress.draws
        time.sleep(0.2)
        assert handle.progress.steps == there
        assert handle.peek()["x"].shape[1] == made
        assert "paused" in repr(handle)
        handle.resume()
        until(lambda: handle.progress.steps > there)
        assert "running" in repr(handle)
        handle.pause()
        assert handle.abort()["x"].shape[1] > made  # also from a pause


def test_peek_is_the_beginning_of_the_result():
    handle = fuld.sample("double_well", **LONG, velocities=True)
    first = handle.peek()
    until(lambda: handle.progress and handle.progress.draws > 1000)
    second = handle.peek()
    whole = handle.abort()
    for name in ("x", "v"):
        for part in (first, second):
            made = part[name].shape[1]
            np.testing.assert_array_equal(part[name], whole[name][:, :made])
    assert 1000 < second["x"].shape[1] <= whole["x"].shape[1] < 10**7


def test_abort_in_the_warm_up_returns_nothing():
    handle = fuld.sample("x^2/2", **{**LONG, "draws": 10}, warmup=10**12)
    assert handle.peek()["x"].shape == (4, 0)
    assert handle.abort()["x"].shape == (4, 0)


def test_abort_is_told_in_the_result_and_warns_not(recwarn):
    handle = fuld.sample("x^2/2", **{**LONG, "output": "xarray"})
    until(lambda: handle.progress and handle.progress.draws > 10)
    assert "of 10000000 draws a chain made" in handle.abort().attrs["stopped"]
    assert not recwarn.list


def test_result_may_be_waited_for_in_vain():
    with fuld.sample("x^2/2", **LONG) as handle:
        with pytest.raises(TimeoutError, match=r"has not ended after 0\.05 s"):
            handle.result(timeout=0.05)
        assert not handle.wait(0)
        assert not handle.finished
    assert handle.finished
    assert handle.result()["x"].shape[0] == 4  # what there is


def test_an_error_in_the_background_is_raised_when_asked_for():
    handle = fuld.sample(far_well, **{**SHORT, "draws": 10_000}, start=0.5, blocking=False)
    assert handle.wait(10)
    for ask in (handle.result, handle.result, handle.abort):
        with pytest.raises(ArithmeticError, match="too far out"):
            ask()


@pytest.mark.parametrize("potential", ["x^2/2", well], ids=["formula", "function"])
def test_a_run_ends_with_its_handle(potential):
    until(lambda: threads() == 0)
    handle = fuld.sample(potential, **LONG)
    until(lambda: threads() > 0)
    del handle
    gc.collect()
    until(lambda: threads() == 0)


def test_an_error_in_the_block_ends_the_run():
    with pytest.raises(KeyError), fuld.sample(slow_well, **LONG) as handle:
        raise KeyError
    assert handle.finished


def test_many_threads_may_ask():
    handle = fuld.sample("x^2/2", **{**SHORT, "draws": 100_000}, blocking=False)
    results, errors = [], []

    def ask():
        try:
            for _ in range(3):
                handle.peek()
                str(handle.progress)
            results.append(handle.result()["x"])
        except BaseException as error:
            errors.append(error)

    askers = [threading.Thread(target=ask) for _ in range(6)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert not errors
    assert all(x is results[0] for x in results[1:])


def test_runs_do_not_disturb_each_other():
    handles = [fuld.sample(well, blocking=False, **{**SHORT, "seed": seed}) for seed in range(4)]
    for seed, handle in enumerate(handles):
        expected = fuld.sample(well, **{**SHORT, "seed": seed})["x"]
        np.testing.assert_array_equal(handle.result()["x"], expected)
