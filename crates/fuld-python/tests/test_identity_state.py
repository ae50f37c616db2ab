"""State that a function carries with it: each kind of state changes its hash, or is refused."""

import contextvars
import dataclasses
import enum
import functools
import types
from typing import Any

import fuld
import numpy as np
import pytest
from fuld._function_identity import UnidentifiedError, code_hash

from tests import identity_helpers

SETTINGS: dict[str, Any] = {"draws": 20, "chains": 3, "warmup": 5, "thin": 1, "output": "numpy"}


def harmonic(x):
    return (x**2).sum(axis=-1) / 2, x


class Scaled:
    """A decorator with a number, which looks like the function that it decorates."""

    def __init__(self, function, factor):
        functools.update_wrapper(self, function)
        self.function, self.factor = function, factor

    def __call__(self, x):
        value, slope = self.function(x)
        return self.factor * value, self.factor * slope


def with_attribute(factor):
    def scaled(x):
        return scaled.factor * (x**2).sum(axis=-1) / 2, scaled.factor * x  # type: ignore[attr-defined]

    scaled.factor = factor  # type: ignore[attr-defined]
    return scaled


def cached_with_attribute(factor):
    cached = functools.lru_cache(harmonic)
    cached.factor = factor  # type: ignore[attr-defined]
    return cached


def partial_with_attribute(factor):
    class Partial(functools.partial):  # type: ignore[type-arg]
        factor: float

    partial = Partial(lambda x: scaled(None, x, partial.factor))
    partial.factor = factor
    return partial


def called_by(make):
    """Return a function of a number that makes an object with a special method."""

    def potential(factor):
        return type("Potential", (), {"__module__": __name__, "__call__": make(factor)})()

    return potential


def scaled(_, x, factor):
    return factor * (x**2).sum(axis=-1) / 2, factor * x


def static(factor):
    return staticmethod(lambda x: scaled(None, x, factor))


def of_class(factor):
    return classmethod(lambda cls, x: scaled(cls, x, factor))


def with_property(factor):
    class Potential:
        @property
        def factor(self):
            return factor

        def __call__(self, x):
            return scaled(self, x, self.factor)

    return Potential()


def with_descriptor(factor):
    class Factor:
        def __get__(self, *_):
            return factor

    class Potential:
        __factor__ = Factor()

        def __call__(self, x):
            return scaled(self, x, self.__factor__)

    return Potential()


def with_metadata(factor):
    @dataclasses.dataclass
    class Potential:
        power: int = dataclasses.field(default=2, metadata={"factor": factor})

        def __call__(self, x):
            return scaled(self, x, dataclasses.fields(self)[0].metadata["factor"])

    return Potential()


def made_dataclass(factor):
    call = {"__call__": lambda self, x: scaled(self, x, factor)}
    # Its module is said to be `types`.
    return dataclasses.make_dataclass("Potential", ["power"], namespace=call)(2)


def closure_over(data):
    return lambda x: (data, x)


def of_enumeration(factor):
    class Factor(enum.Enum):
        FACTOR = factor

    return closure_over(Factor.FACTOR)


def bound_builtin(factor):
    return closure_over({"factor": factor}.get)


def vectorized(factor):
    return closure_over(np.vectorize(lambda x: factor * x))


def array_subclass(factor):
    class Array(np.ndarray):
        factor: float

    array = np.ones(2).view(Array)
    array.factor = factor
    return closure_over(array)


def number_subclass(factor):
    class Number(np.float64):
        factor: float

    number = Number(1.0)
    number.factor = factor
    return closure_over(number)


def private_member_of_a_module(factor):
    helpers = types.ModuleType("helpers")
    helpers.__dict__["__factor"] = factor
    return lambda x: (helpers.__factor, x)


def module_passed_on(factor):
    helpers = types.ModuleType("helpers")
    helpers.__dict__["factor"] = factor
    return lambda x: _reads_factor(helpers, x)


def _reads_factor(module, x):
    return scaled(None, x, module.factor)


def two_names_of_a_module(factor):
    package, helpers = types.ModuleType("package"), types.ModuleType("helpers")
    package.__dict__["helpers"] = helpers
    helpers.__dict__.update(power=2, factor=factor)

    def first():
        return package.helpers.power

    def second():
        return package.helpers.factor

    return lambda x: (first(), second(), x)


STATES = {
    "decorator": lambda factor: Scaled(harmonic, factor),
    "attribute": with_attribute,
    "attribute of a cached function": cached_with_attribute,
    "attribute of a partial": partial_with_attribute,
    "partialmethod": called_by(lambda factor: functools.partialmethod(scaled, factor=factor)),
    "staticmethod": called_by(static),
    "classmethod": called_by(of_class),
    "property": with_property,
    "descriptor": with_descriptor,
    "metadata": with_metadata,
    "made dataclass": made_dataclass,
    "enumeration": of_enumeration,
    "method of a dict": bound_builtin,
    "vectorized": vectorized,
    "array subclass": array_subclass,
    "number subclass": number_subclass,
    "private member": private_member_of_a_module,
    "module passed on": module_passed_on,
    "two names of a module": two_names_of_a_module,
}


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_every_kind_of_state_counts(make):
    once = make(1.0)
    assert code_hash(once) == code_hash(once) == code_hash(make(1.0))
    assert code_hash(once) != code_hash(make(2.0))


@pytest.mark.parametrize("kind", ["decorator", "attribute", "staticmethod", "partialmethod"])
def test_another_state_does_not_continue_a_run(tmp_path, kind):
    make = STATES[kind]
    first = fuld.sample(make(1.0), name="f", store=tmp_path / "s", **SETTINGS)["x"]
    with pytest.raises(ValueError, match=r"belongs to another run: .*potential"):
        fuld.sample(make(2.0), name="f", store=tmp_path / "s", resume=True, **SETTINGS)
    again = fuld.sample(make(1.0), name="f", store=tmp_path / "s", resume=True, **SETTINGS)["x"]
    np.testing.assert_array_equal(first, again)


def test_arrays_in_files_are_their_numbers(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path, number in zip(paths, (1.0, 1.0, 2.0), strict=True):
        np.array([number]).tofile(path)
    one, same, other = (code_hash(closure_over(np.memmap(path, float, "r"))) for path in paths)
    assert one == same != other


def reads_globals(x):
    return globals()["harmonic"](x)


def evaluates(x):
    return eval("harmonic(x)")


UNREADABLE = {
    "ufunc": lambda: closure_over(np.frompyfunc(lambda x: 2 * x, 1, 1)),
    "context variable": lambda: closure_over(contextvars.ContextVar("factor")),
    "single dispatch": lambda: functools.singledispatch(harmonic),
    "subclass of property": lambda: closure_over(type("P", (property,), {})(lambda self: 1)),
    "globals": lambda: reads_globals,
    "eval": lambda: evaluates,
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_refused(make):
    with pytest.raises(UnidentifiedError, match="cannot be identified when the store is continued"):
        code_hash(make())


def test_functions_of_installed_packages_are_their_names():
    def potential(x):
        return np.exp(x), np.add.reduce(x), np.linalg.norm(x), functools.reduce(max, x)

    assert code_hash(potential) == code_hash(potential)
    assert code_hash(closure_over(np.exp)) != code_hash(closure_over(np.log))
    assert code_hash(closure_over(identity_helpers.energy)) != code_hash(closure_over(len))
