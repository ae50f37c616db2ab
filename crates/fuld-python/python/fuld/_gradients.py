"""Functions of users as value and gradient at many points.

They are differentiated by JAX or torch, or return the gradient themselves.

Each class takes a function of one point and is called with the points of all chains: arrays, or
dicts of arrays, with the chains along their first axis. Further arguments, such as minibatches,
have the chains along their first axis too, unless they are `shared`. The classes can be pickled:
what they compile stays behind.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from fuld._minibatches import map_arrays
from fuld._returned_arrays import check_precision, float64

Function: TypeAlias = Callable[..., Any]
#: Who computes the gradient: a framework, or the function itself.
Framework: TypeAlias = Literal["jax", "torch", "written"]
FRAMEWORKS = ("jax", "torch")
#: The note of an error that a function raises for tensors.
TENSORS = "fuld: called with tensors of float64"


class PrecisionError(TypeError):
    """A function mixes single and double precision."""


class _Gradient(ABC):
    """A function of one point, compiled when it is first called."""

    def __init__(self, function: Function, *, shared: bool = True) -> None:
        self.function = function
        self.shared = shared

    @abstractmethod
    def __call__(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return values (n,) and gradients in the first argument, as it is nested."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without compiled code."""
        made = ("_compiled", "_data")
        return {name: value for name, value in self.__dict__.items() if name not in made}


class JaxGradient(_Gradient):
    """Differentiated and compiled by JAX, in the precision that JAX is set to.

    A context of double precision here would break other uses of the same NumPy arrays: JAX keeps
    constants in a cache that does not know the precision.
    """

    _data: tuple[Any, ...] | None = None

    @cached_property
    def _compiled(self) -> Function:
        import jax

        def call(first: Any, *others: Any) -> Any:  # noqa: ANN401
            other_axes = (None if self.shared else 0,) * len(others)
            gradient = jax.value_and_grad(self.function)
            return jax.vmap(gradient, in_axes=(0, *other_axes))(first, *others)

        compiled: Function = jax.jit(call)
        return compiled

    def __call__(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return values (n,) and gradients in the first argument, as it is nested."""
        import jax

        if self.shared and others:
            if self._data is None:  # copied to the device once
                self._data = jax.tree.map(jax.numpy.asarray, others)
            others = self._data
        try:
            value, gradient = self._compiled(first, *others)
        except TypeError as error:
            notes = {
                "scalar-output": "the function must return one number for one point",
                "boolean": "JAX compiles the function for all points: write jax.numpy.where(...) "
                "in place of `if`",
            }
            for words, note in notes.items():
                if words in str(error) and hasattr(error, "add_note"):
                    error.add_note(f"fuld: {note}")
            raise
        check_precision((value, jax.tree.leaves(gradient)[0]))
        return float64(value), jax.tree.map(float64, gradient)


class TorchGradient(_Gradient):
    """Differentiated by torch: for all chains at once if the function allows it."""

    def __init__(self, function: Function, *, shared: bool = True) -> None:
        super().__init__(function, shared=shared)
        #: Why the function cannot take all chains at once; None if it can.
        self.one_by_one: Exception | None = None

    def _scalar(self, *arguments: Any) -> Any:  # noqa: ANN401
        value = self.function(*arguments)
        if value.numel() != 1:
            raise ValueError(
                "the function must return one number for one point, got a tensor of shape "
                f"{tuple(value.shape)}"
            )
        return value.reshape(())

    def __call__(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return values (n,) and gradients in the first argument, as it is nested."""
        import torch
        from torch.utils._pytree import tree_map

        first, *others = tree_map(_tensor, (first, *others))
        with torch.inference_mode(False), torch.enable_grad():
            if self.one_by_one is None:
                try:
                    return self._together(first, *others)
                except Exception as error:
                    answer = self._each(first, *others)  # an error of the function is raised here
                    self.one_by_one = error
                    return answer
            return self._each(first, *others)

    def _together(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        import torch
        from torch.utils._pytree import tree_flatten, tree_unflatten

        leaves, form = tree_flatten(first)
        inputs = [leaf.clone().requires_grad_() for leaf in leaves]
        other_axes = (None if self.shared else 0,) * len(others)
        call = torch.func.vmap(self._scalar, in_dims=(0, *other_axes))
        value = call(tree_unflatten(inputs, form), *others)
        check_precision((value, inputs[0]))
        # Chains do not depend on each other: the gradient of the sum has all gradients.
        return float64(value), tree_unflatten(_slopes(value.sum(), inputs), form)

    def _each(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

        leaves, form = tree_flatten(first)
        values, gradients = [], []
        for i in range(len(leaves[0])):
            inputs = [leaf[i].clone().requires_grad_() for leaf in leaves]
            rest = others if self.shared else tree_map(lambda a, i=i: a[i], tuple(others))
            value = self._scalar(tree_unflatten(inputs, form), *rest)
            values.append(float(value.detach()))
            gradients.append(_slopes(value, inputs))
        stacked = [np.stack(parts) for parts in zip(*gradients, strict=True)]
        return np.array(values), tree_unflatten(stacked, form)


def _slopes(value: Any, inputs: list[Any]) -> list[Any]:  # noqa: ANN401
    """Return the derivatives of a value by its inputs, as arrays; 0 by inputs it does not use."""
    import torch

    if not value.requires_grad:  # a constant, such as -inf outside of the support
        return [np.zeros(tuple(a.shape)) for a in inputs]
    slopes = torch.autograd.grad(value, inputs, allow_unused=True)
    pairs = zip(inputs, slopes, strict=True)
    return [np.zeros(tuple(a.shape)) if g is None else float64(g) for a, g in pairs]


def _tensor(array: Any) -> Any:  # noqa: ANN401
    import torch

    return torch.as_tensor(array) if isinstance(array, (np.ndarray, np.generic)) else array


class WrittenGradient(_Gradient):
    """A function that returns value and gradient of one point, called for one chain at a time."""

    def __call__(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return values (n,) and gradients in the first argument, as it is nested."""
        count = len(next(iter(first.values()))) if isinstance(first, dict) else len(first)
        answers = []
        for i in range(count):
            rest = others if self.shared else tuple(at(other, i) for other in others)
            # A copy: what a function does to its argument is its own affair.
            answers.append(self.function(at(first, i, copy=True), *rest))
        # One function has one form: the first answer stands for all.
        _checked(answers[0], at(first, 0), ())
        values = np.array([float(value) for value, _ in answers])
        if not isinstance(first, dict):
            return values, np.stack([float64(gradient) for _, gradient in answers])
        return values, {
            name: np.stack([float64(gradient[name]) for _, gradient in answers]) for name in first
        }


class WrittenTogether(_Gradient):
    """A function that returns values and gradients of all chains."""

    def __call__(self, first: Any, *others: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return values (n,) and gradients in the first argument, as it is nested."""
        count = len(next(iter(first.values()))) if isinstance(first, dict) else len(first)
        copies = at(first, slice(None), copy=True)
        return _checked(self.function(copies, *others), first, (count,))


def _checked(answer: Any, first: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:  # noqa: ANN401
    """Return value and gradient as arrays, after checks of their forms."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError(only_a_value(answer))
    check_precision(answer)
    value, gradient = float64(answer[0]), answer[1]
    if value.size == 1 and shape == ():
        value = value.reshape(())
    if value.shape != shape:
        raise ValueError(f"the value must have shape {shape}, got {value.shape}")
    if not isinstance(first, dict):
        array = float64(gradient)
        if array.shape != first.shape:
            raise ValueError(f"the gradient must have shape {first.shape}, got {array.shape}")
        return value, array
    form = ", ".join(f"{name!r}: array of shape {np.shape(a)}" for name, a in first.items())
    if not isinstance(gradient, dict) or gradient.keys() != first.keys():
        what = f"the keys {list(gradient)}" if isinstance(gradient, dict) else repr(gradient)
        raise TypeError(
            f"the gradient must be a dict with one entry per variable, {{{form}}}, got {what}"
        )
    arrays = {name: float64(gradient[name]) for name in first}
    for name, a in first.items():
        if arrays[name].shape != np.shape(a):
            raise ValueError(
                f"the gradient must be {{{form}}}, got shape {arrays[name].shape} for {name!r}"
            )
    return value, arrays


def at(nested: Any, chain: int | slice, *, copy: bool = False) -> Any:  # noqa: ANN401
    """Return the part of arrays, or of tuples, lists and dicts of arrays, of one chain."""
    part = map_arrays(lambda array: array[chain], nested)
    return map_arrays(lambda array: array.copy(), part) if copy else part


def gradient_of(
    framework: Framework, function: Function, *, shared: bool, together: bool
) -> Function:
    """Return value and gradient of a function at many points.

    `together` says that a function with a written gradient takes all chains at once.
    """
    written = WrittenTogether if together else WrittenGradient
    kinds = {"jax": JaxGradient, "torch": TorchGradient, "written": written}
    return kinds[framework](function, shared=shared)


def framework_of(function: Function, *arguments: Any) -> Framework | None:  # noqa: ANN401
    """Return who computes the gradient of a function, by what it returns at one point.

    None if the function returns a number of NumPy or Python, which nobody can differentiate. An
    error of the function is raised.
    """
    try:
        with np.errstate(all="ignore"):
            answer = function(*arguments)
    except Exception as first:
        if "torch" not in sys.modules:
            raise
        from torch.utils._pytree import tree_map

        try:
            answer = function(*tree_map(_tensor, arguments))
        except Exception as error:
            if "must be Tensor" in str(first) and "dtype" not in str(error):
                if hasattr(error, "add_note"):
                    error.add_note(TENSORS)
                raise error from None
            if "dtype" in str(error):
                raise PrecisionError(
                    f"fuld calls the function with tensors of float64, and torch raised: {error}. "
                    "Convert the data and the parameters that it uses to float64, with .double()"
                ) from error
            answer = None
        if package_of(answer) != "torch":
            raise
    if isinstance(answer, tuple):
        return "written"
    package = package_of(answer)
    return package if package in ("jax", "torch") else None


def package_of(answer: object) -> Any:  # noqa: ANN401
    """Return the framework of an array, by its class."""
    name = type(answer).__module__.split(".")[0]
    return {"jaxlib": "jax"}.get(name, name)


def only_a_value(answer: object) -> str:
    """Return the text of the error about a function that returns no gradient."""
    got = f"a tuple of {len(answer)}" if isinstance(answer, tuple) else type(answer).__name__
    return (
        f"the function must return a tuple (value, gradient), got {got}: return both, as in "
        "`return value, gradient`; or write it with jax.numpy or torch and return the value alone, "
        "which fuld then differentiates; gradient='jax' or gradient='torch' differentiates a "
        "function that works with arrays of any kind"
    )
