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
