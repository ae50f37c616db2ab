"""Which runs may continue which: settings, data and functions identify a run, not its values."""

import functools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fuld
import numpy as np
import pytest
from fuld._function_identity import UnidentifiedError, code_hash

from tests import identity_helpers
from tests.wells import well

SETTINGS: dict[str, Any] = {"draws": 40, "chains": 3, "warmup": 5, "thin": 1, "output": "numpy"}
EXECUTORS = [None, ThreadPoolExecutor(1)]
STIFFNESS = 2.0


def _helper(x):
    return x**2


def calls_helper(x):
    return _helper(x).sum(axis=-1), 2 * x


def calls_module(x):
    return identity_helpers.energy(x), x


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


class Potential:
    """A class whose methods are potentials."""

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def curvature(self):
        return self.stiffness

    def harmonic(self, x):
        return self.curvature() * (x**2).sum(axis=-1) / 2, self.curvature() * x


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("stiffness",)

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def __call__(self, x):
        return self.stiffness * (x**2).sum(axis=-1) / 2, self.stiffness * x


class Stiffness(float):
    """A number with a method of its own."""

    def half(self):
        return self / 2


PAIRS = {
    "closure": (closure(1.0), closure(2.0)),
    "closure array": (closure(np.ones(1)), closure(np.ones(1) * 2)),
    "agree where probed": (agree_where_probed(0.0), agree_where_probed(1.0)),
    "default": (default_argument(1.0), default_argument(2.0)),
    "method": (Potential(1.0).harmonic, Potential(2.0).harmonic),
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


def test_a_method_is_its_class_and_the_state_of_its_object(monkeypatch):
    before = code_hash(Potential(1.0).harmonic)
    assert before == code_hash(Potential(1.0).harmonic)
    assert before != code_hash(Potential(2.0).harmonic)
    monkeypatch.setattr(Potential, "curvature", lambda self: 2 * self.stiffness)
    assert before != code_hash(Potential(1.0).harmonic)


def test_helper_methods_of_a_callable_object_count(monkeypatch):
    class Callable(Potential):
        def __call__(self, x):
            return self.harmonic(x)

    before = code_hash(Callable(1.0))
    assert before == code_hash(Callable(1.0))
    # A method of the base class, which the object reaches only by its name.
    monkeypatch.setattr(Potential, "curvature", lambda self: 2 * self.stiffness)
    assert before != code_hash(Callable(1.0))


def test_slots_and_subclasses_of_numbers_count(monkeypatch):
    assert code_hash(Slotted(1.0)) == code_hash(Slotted(1.0))
    assert code_hash(Slotted(1.0)) != code_hash(Slotted(2.0))
    before = code_hash(closure(Stiffness(1.0)))
    assert before != code_hash(closure(Stiffness(2.0)))
    monkeypatch.setattr(Stiffness, "half", lambda self: self / 3)
    assert before != code_hash(closure(Stiffness(1.0)))


def imports_helper(x):
    from tests import identity_helpers

    return identity_helpers.energy(x), x


@pytest.mark.parametrize("function", [calls_module, imports_helper])
@pytest.mark.parametrize("changed", ["energy", "curvature", "FACTOR"])
def test_functions_of_imported_modules_count(monkeypatch, function, changed):
    """`energy` calls `curvature`, which reads `FACTOR`."""
    before = code_hash(function)
    assert before == code_hash(function)
    monkeypatch.setattr(identity_helpers, "unused", lambda: 1)
    assert before == code_hash(function)
    monkeypatch.setattr(identity_helpers, changed, 3.0 if changed == "FACTOR" else lambda x: x)
    assert before != code_hash(function)


def test_code_of_installed_packages_is_its_name(monkeypatch):
    def harmonic(x):
        return np.linalg.norm(x, axis=-1), json.dumps(x)

    before = code_hash(harmonic)
    monkeypatch.setattr(json, "_default_encoder", None)
    assert before == code_hash(harmonic)


def test_decorated_functions_are_what_they_wrap():
    cached = [functools.lru_cache(closure(stiffness)) for stiffness in (1.0, 1.0, 2.0)]
    assert code_hash(cached[0]) == code_hash(cached[1]) != code_hash(cached[2])


UNIDENTIFIED = {
    "closure": (lambda: closure(threading.Lock()), "harmonic > stiffness is an object of"),
    "attribute": (lambda: Potential(iter_forever()).harmonic, "stiffness is an object of"),
    "default": (lambda: default_argument(threading.Lock()), "harmonic is an object of"),
}


def iter_forever():
    yield from iter(int, 1)


@pytest.mark.parametrize(("make", "where"), UNIDENTIFIED.values(), ids=UNIDENTIFIED)
def test_data_that_cannot_be_identified_is_an_error_with_a_store(tmp_path, make, where):
    with pytest.raises(UnidentifiedError, match=rf"{where} .*whose state cannot be read.*store="):
        code_hash(make())
    lock = threading.Lock()

    def locked(x):
        with lock:
            return well(x)

    # Without a store nothing has to be identified.
    assert fuld.sample(locked, **SETTINGS)["x"].shape == (3, 40)
    with pytest.raises(TypeError, match=r"locked > lock is an object of .*sample without store="):
        fuld.sample(locked, store=tmp_path / "s", **SETTINGS)
    assert not (tmp_path / "s").exists()


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
