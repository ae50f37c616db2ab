"""Conversion of the values that a potential returns to NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def float64(answer: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Return an array of doubles, from numbers, lists, and arrays of NumPy, JAX or torch."""
    kind = type(answer).__name__
    if isinstance(answer, np.ma.MaskedArray):
        raise TypeError("a potential must return plain arrays, got a masked one")
    if hasattr(answer, "detach"):  # a torch tensor that may know where it came from
        answer = answer.detach().double().cpu()
    try:
        array = np.asarray(answer)
    except ValueError as error:  # rows of different lengths
        raise TypeError(f"a potential must return arrays of numbers, got {kind}: {error}") from None
    # NumPy does not know some half precisions (V), but it can convert them.
    if array.dtype.kind not in "biufV":
        what = f"an array of {array.dtype}" if isinstance(answer, np.ndarray) else kind
        raise TypeError(f"a potential must return real numbers, got {what}")
    return array.astype(np.float64, copy=False)


def check_precision(answer: tuple[Any, Any]) -> None:
    """Raise an error if value and gradient are floats of different precision.

    A value of single precision beside a gradient of double precision is a cast by mistake: the
    differences of values, which decide about proposals, would then have no more than seven digits.
    """
    value, gradient = (_precision(part) for part in answer)
    if value and gradient and value != gradient:
        raise TypeError(
            f"value and gradient must have the same precision, got {value} and {gradient}: compute "
            "both in float64 (in JAX jax.config.update('jax_enable_x64', True), in torch with "
            "torch.float64)"
        )


def _precision(part: Any) -> str:  # noqa: ANN401
    """Return the name of a floating type; empty for Python's numbers, whole numbers and lists."""
    if isinstance(part, dict):
        return _precision(next(iter(part.values()), None))
    name = str(getattr(part, "dtype", "")).rpartition(".")[2]
    return name if "float" in name else ""
