"""What users pass, as arrays that the native module reads in place."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuld import _native

#: A NumPy scalar where all arguments are scalars, else an array.
Values: TypeAlias = Any


def real_array(x: ArrayLike, name: str) -> NDArray[Any]:
    """The numbers of x in float32 if they are that, else in float64; copied only to convert."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost: pass {name}.filled(np.nan), or "
            f"{name}.compressed() to leave masked values out"
        )
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if array.dtype.kind == "O" and all(isinstance(value, (int, float)) for value in array.flat):
        # Integers of Python beyond those of 64 bits.
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{name} holds an integer beyond the largest double, 1.8e308"
            ) from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got an array of dtype {array.dtype}")
    single = array.dtype.kind == "f" and array.dtype.itemsize == 4
    array = array.astype(np.float32 if single else np.float64, copy=False)
    return array if array.flags.aligned else array.copy()


def doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers one after the other, in C order; a copy only if they are not so already."""
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1)


def double_array(x: ArrayLike, name: str) -> NDArray[np.float64]:
    """A copy of the numbers of x in float64, in C order."""
    return np.array(real_array(x, name), dtype=np.float64, order="C")


def evaluate(
    name: str, x: NDArray[Any], alpha: NDArray[np.float64], scale: NDArray[np.float64]
) -> Values:
    """The function `name` of SαS(scale) at x, all three broadcast against each other."""
    if alpha.ndim or scale.ndim:
        return evaluate_broadcast(name, x, *np.broadcast_arrays(alpha, scale))
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        return evaluate(name, x.T, alpha, scale).T
    out = _native.evaluate(name, x.reshape(1, x.size), alpha.reshape(1), scale.reshape(1))
    return out.reshape(x.shape)[()]


def evaluate_broadcast(
    name: str, x: NDArray[Any], alpha: NDArray[np.float64], scale: NDArray[np.float64]
) -> Values:
    """The function of laws that are given by arrays of one shape.

    The native module evaluates one law per row. So the axes along which the laws change are moved
    to the front, and every law is built once, however often it is used.
    """
    try:
        shape = np.broadcast_shapes(x.shape, alpha.shape)
    except ValueError:
        raise ValueError(
            f"arguments of shape {x.shape} do not broadcast with laws of shape {alpha.shape}"
        ) from None
    laws = (1,) * (len(shape) - alpha.ndim) + alpha.shape
    order = sorted(range(len(shape)), key=lambda axis: laws[axis] == 1)
    columns = math.prod(shape[axis] for axis in order if laws[axis] == 1)
    rows = np.broadcast_to(x, shape).transpose(order).reshape(alpha.size, columns)
    out = _native.evaluate(name, rows, alpha.ravel(), scale.ravel())
    out = out.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))
    return np.ascontiguousarray(out).reshape(shape)[()]
