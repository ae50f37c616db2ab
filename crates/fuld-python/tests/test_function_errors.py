"""Errors of invalid functions."""

import traceback
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import far_well, well

FEW: dict[str, Any] = {
    "seed": 0,
    "chains": 5,
    "draws": 6,
    "warmup": 10,
    "thin": 2,
    "dim": 2,
    "output": "numpy",
}


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (lambda x: 0.0, TypeError, r"must return a tuple \(value, gradient\), got float"),
        (lambda x: (0.0, x, x), TypeError, "got a tuple of 3"),
        (lambda x: (0.0, "steep"), TypeError, "real numbers, got str"),
        (lambda x: (0.0, None), TypeError, "real numbers, got NoneType"),
        (lambda x: (0.0, x + 0j), TypeError, "real numbers, got an array of complex128"),
        (lambda x: (0.0, [[1.0], [1.0, 2.0]]), TypeError, "must return arrays of numbers"),
        (lambda x: (0.0, x[:1]), ValueError, r"for points of shape \(2,\)"),
        (lambda x: (0.0, 0.0), ValueError, r"gradient of shape \(2,\), got \(\) and \(\)"),
        (lambda x: (x.sum(), x[None]), ValueError, r"got \(\) and \(1, 2\)"),
        (lambda x: (np.nan, x), ValueError, "5 of 5 chains would start where f is not a finite"),
        (lambda x, y: (0.0, x), TypeError, "missing 1 required positional argument"),
        (lambda x: nonsense, NameError, "nonsense"),  # type: ignore[name-defined]  # noqa: F821
    ],
)
def test_the_first_call_reports_errors(function, error, says):
    with pytest.raises(error, match=says):
        fuld.sample(function, **FEW)


def test_sums_over_the_wrong_axis_are_seen_with_as_many_chains_as_coordinates():
    with pytest.raises(ValueError, match="for points of shape"):
        fuld.sample(lambda x: ((x**2).sum(axis=0), 2 * x), **{**FEW, "dim": 5}, vectorized=True)


def later(function, calls):
    """Return the double well, and another function after a number of calls."""
    count = iter(range(10**9))
    return lambda x: (well if next(count) < calls else function)(x)


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (lambda x: 0.0, TypeError, "must return a tuple"),
        (lambda x: (0.0, "steep"), TypeError, "real numbers, got str"),
        (lambda x: (0.0, x[:3]), ValueError, r"gradient of shape \(3, 2\).*shape \(5, 2\)"),
        (lambda x: (0.0, x.T), ValueError, r"gradient of shape \(2, 5\)"),
        (lambda x: (0.0, x[..., None]), ValueError, r"gradient of shape \(5, 2, 1\)"),
        (lambda x: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_later_calls_tell_the_step(function, error, says):
    with pytest.raises(error, match=says) as caught:
        fuld.sample(later(function, 20), **FEW)
    if hasattr(caught.value, "__notes__"):
        assert "raised by the potential in step" in caught.value.__notes__[0]


def test_what_a_function_raises_has_its_own_traceback():
    with pytest.raises(ArithmeticError, match="too far out") as caught:
        fuld.sample(far_well, chains=8, draws=1000, start=0.5, output="numpy")
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-1] == "far_well"


def test_an_error_with_both_shapes_that_is_the_same_is_told_once():
    def broken(x):
        raise RuntimeError("no data")

    with pytest.raises(RuntimeError, match=r"^no data$") as caught:
        fuld.sample(broken, **FEW)
    assert not hasattr(caught.value, "__notes__")


def test_the_other_error_is_told_too():
    def batch(x):
        return (x[:, 0] ** 2).sum(axis=1), x

    with pytest.raises(IndexError) as caught:
        fuld.sample(batch, **FEW)
    if hasattr(caught.value, "__notes__"):
        assert "called with one point, after points of all chains gave" in caught.value.__notes__[0]


def test_the_dimension_that_was_guessed_is_told():
    with pytest.raises(ValueError, match="for points of shape") as caught:
        fuld.sample(lambda x: (x[1] ** 2, x), output="numpy")
    if hasattr(caught.value, "__notes__"):
        assert "dim = 1" in caught.value.__notes__[-1]


def test_a_wrong_shape_for_all_chains_is_told_before_what_one_point_does():
    with pytest.raises(ValueError, match=r"gradient of shape \(5, 2\), got \(5,\) and \(5, 1\)"):
        fuld.sample(lambda x: ((x**2).sum(axis=1), x[:, :1]), **FEW)


@pytest.mark.parametrize("factor", [-1.0, 2.0, np.array([1.0, 0.0])])
def test_a_gradient_of_another_function_is_warned_of(factor):
    with pytest.warns(UserWarning, match="seems not to be that of the value") as warned:
        fuld.sample(lambda x: (well(x)[0], factor * well(x)[1]), **FEW, start=[0.5, 0.6])
    assert warned[0].filename == __file__


def test_the_gradient_of_a_rough_function_is_not_warned_of():
    def rough(x):
        return (500 * x**2 + np.cos(300 * x)).sum(-1), 1000 * x - 300 * np.sin(300 * x)

    fuld.sample(rough, **FEW, step=1e-5, start=0.5)


def test_a_function_may_use_one_buffer_for_all_answers():
    buffers: dict[Any, Any] = {}

    def frugal(x):
        into = buffers.setdefault(x.shape, np.empty_like(x))
        np.multiply(x, 2.0, out=into)
        return (x**2).sum(-1), into

    x = fuld.sample(frugal, **FEW)["x"]
    np.testing.assert_array_equal(x, fuld.sample(lambda x: ((x**2).sum(-1), 2.0 * x), **FEW)["x"])


@pytest.mark.parametrize("ask", ["abort", "result", "peek", "wait"])
def test_a_run_that_waits_for_itself_is_told(ask):
    handles: list[fuld.Sampling] = []

    def selfish(x):
        if handles:
            getattr(handles[0], ask)()
        return well(x)

    handles.append(fuld.sample(selfish, blocking=False, **{**FEW, "draws": 10**6}))
    with pytest.raises(RuntimeError, match="a run cannot wait for itself"):
        handles[0].result(timeout=20)


def test_chains_that_diverge_are_told_of():
    settings: dict[str, Any] = {**FEW, "chains": 4, "integrator": "baoab"}
    with pytest.warns(fuld.Diverged, match="4 of 4 chains left for infinity"):
        x = fuld.sample(lambda x: ((x**2).sum(-1), x * np.nan), **settings)["x"]
    assert np.isnan(x).all()


def test_draws_before_an_error_stay(tmp_path, same_code):
    settings: dict[str, Any] = {"seed": 0, "chains": 8, "draws": 1000, "output": "numpy"}
    settings["start"] = 0.5
    with pytest.raises(ArithmeticError):
        fuld.sample(far_well, name="well", store=tmp_path / "kept", **settings)
    # With a function that passes for the same the run continues.
    done = fuld.sample(well, store=tmp_path / "kept", resume=True, **settings)["x"]
    np.testing.assert_array_equal(done, fuld.sample(well, **settings)["x"])
    # And in memory they can be looked at.
    handle = fuld.sample(far_well, blocking=False, **settings)
    with pytest.raises(ArithmeticError):
        handle.result()
    before = handle.peek()["x"]
    np.testing.assert_array_equal(before, done[:, : before.shape[1]])
    with pytest.raises(ArithmeticError):  # as often as it is asked for
        handle.result()
