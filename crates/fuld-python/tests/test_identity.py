"""Which runs may continue which: settings, data and functions identify a run, not its values."""

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fuld
import numpy as np
import pytest
from fuld._function_identity import code_hash

from tests.wells import well

SETTINGS: dict[str, Any] = {"draws": 40, "chains": 3, "warmup": 5, "thin": 1, "output": "numpy"}
EXECUTORS = [None, ThreadPoolExecutor(1)]
STIFFNESS = 2.0


def _helper(x):
    return x**2


def calls_helper(x):
    return _helper(x).sum(axis=-1), 2 * x


def reads_global(x):
    return STIFFNESS * (x**2).sum(axis=-1) / 2, STIFFNESS * x


def closure(stiffness):
    def harmonic(x):
        return stiffness * (x**2).sum(axis=-1) / 2, stiffness * x

    return harmonic


def agree_where_probed(extra):
    """Return functions that agree near the origin, where all chains start."""

    def harmonic(x):
        far = np.maximum(np.abs(x) - 1e6, 0)
        return (x**2 / 2 + extra * far**2).sum(axis=-1), x + 2 * extra * far

    return harmonic


def default_argument(stiffness):
    def harmonic(x, stiffness=stiffness):
        return stiffness * (x**2).sum(axis=-1) / 2, stiffness * x

    return harmonic


class Harmonic:
    """A callable object with data."""

    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)

    def __call__(self, x):
        stiffness = self.data.sum()
        return stiffness * (x**2).sum(axis=-1) / 2, stiffness * x


def scaled(stiffness, x):
    return stiffness * (x**2).sum(axis=-1) / 2, stiffness * x


PAIRS = {
    "closure": (closure(1.0), closure(2.0)),
    "closure array": (closure(np.ones(1)), closure(np.ones(1) * 2)),
    "agree where probed": (agree_where_probed(0.0), agree_where_probed(1.0)),
    "default": (default_argument(1.0), default_argument(2.0)),
    "object": (Harmonic([1.0, 2.0]), Harmonic([1.0, 3.0])),
    "partial": (functools.partial(scaled, 1.0), functools.partial(scaled, 2.0)),
    "constant": (
        lambda x: ((x**2).sum(axis=-1), 2 * x),
        lambda x: ((x**2).sum(axis=-1) + 1, 2 * x),
    ),
}


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_functions_that_differ_have_other_hashes(one, other):
    assert code_hash(one) == code_hash(one)
    assert len(code_hash(one)) == 64
    assert code_hash(one) != code_hash(other)


def test_a_function_made_again_is_the_same():
    assert code_hash(closure(1.5)) == code_hash(closure(1.5))
    assert code_hash(Harmonic([1.0])) == code_hash(Harmonic([1.0]))
    assert code_hash(closure(closure(1.0))) == code_hash(closure(closure(1.0)))


def test_functions_and_numbers_of_the_module_count(monkeypatch):
    before = code_hash(calls_helper), code_hash(reads_global)
    monkeypatch.setattr("tests.test_identity._helper", lambda x: x**2 + 0.0)
    monkeypatch.setattr("tests.test_identity.STIFFNESS", 3.0)
    after = code_hash(calls_helper), code_hash(reads_global)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_functions_that_refer_to_themselves():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert code_hash(even) == code_hash(even)


@pytest.mark.parametrize("executor", EXECUTORS, ids=["local", "executor"])
@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_another_function_does_not_continue_a_run(tmp_path, one, other, executor):
    settings: dict[str, Any] = {**SETTINGS, "store": tmp_path / "s", "executor": executor}
    x = fuld.sample(one, name="f", **settings)["x"]
    with pytest.raises(ValueError, match=r"belongs to another run: .*potential"):
        fuld.sample(other, name="f", resume=True, **settings)
    again = fuld.sample(one, name="f", resume=True, **settings)["x"]
    np.testing.assert_array_equal(x, again)


@pytest.mark.parametrize("executor", EXECUTORS, ids=["local", "executor"])
def test_another_name_does_not_continue_a_run(tmp_path, executor):
    settings: dict[str, Any] = {**SETTINGS, "store": tmp_path / "s", "executor": executor}
    fuld.sample(well, name="first", **settings)
    with pytest.raises(ValueError, match="belongs to another run"):
        fuld.sample(well, name="second", resume=True, **settings)


@pytest.mark.parametrize("executor", EXECUTORS, ids=["local", "executor"])
@pytest.mark.parametrize("batch", [50, 100])
def test_another_batch_does_not_continue_a_run(tmp_path, batch, executor):
    settings: dict[str, Any] = {**SETTINGS, "store": tmp_path / "s", "executor": executor}
    fuld.sample("logistic", params={"batch": 5}, **settings)
    with pytest.raises(ValueError, match="belongs to another run"):
        fuld.sample("logistic", params={"batch": batch}, resume=True, **settings)


@pytest.mark.parametrize("executor", EXECUTORS, ids=["local", "executor"])
def test_another_formula_does_not_continue_a_run(tmp_path, executor):
    """The two agree at 0.3, 0.7 and 1.1, at which potentials were once compared."""
    root = "((x - 0.3)*(x - 0.7)*(x - 1.1))"
    settings: dict[str, Any] = {**SETTINGS, "store": tmp_path / "s", "executor": executor}
    fuld.sample("x^2/2", **settings)
    with pytest.raises(ValueError, match="belongs to another run"):
        fuld.sample(f"x^2/2 + {root}^2", resume=True, **settings)


def test_the_name_is_a_setting_of_functions():
    with pytest.raises(ValueError, match="name are for functions"):
        fuld.sample("x^2/2", name="mine", **SETTINGS)
    with pytest.raises(TypeError, match="name must be a name, got 3"):
        fuld.sample(well, name=3, **SETTINGS)  # type: ignore[call-overload]
    assert fuld.sample(well, name="mine", **{**SETTINGS, "output": "xarray"}).potential == "mine"
