"""What users pass, made ready for the native module, or refused in one sentence."""

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray


def real_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """The values as an array of real numbers, of whatever dtype they have."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array; fill it with {name}.filled(...) or drop what is masked "
            f"with {name}.compressed()"
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is no array of numbers: {error}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, not {array.dtype}")
    return array


def doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers one after the other, in C order; a copy only if they are not so already."""
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1)


def result_dtype(array: NDArray[Any]) -> type[np.float32] | type[np.float64]:
    """Single precision for single precision, double for everything else."""
    return np.float32 if array.dtype == np.float32 else np.float64


def whole_number(name: str, value: SupportsIndex, least: int = 0) -> int:
    """An integer that the native module can hold and that is not too small."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if not least <= number < 2**64:
        raise ValueError(f"{name} must be an integer from {least} to 2**64 - 1, got {number}")
    return number


def real_number(name: str, value: float) -> float:
    """A number; whether it is in its range is checked where the range is known."""
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name} must be a number, got {value!r}") from None
