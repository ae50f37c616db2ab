"""Arrays from what functions return."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def float64(answer: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Return an array of doubles, from numbers, lists, and arrays of NumPy, JAX or torch."""
    if hasattr(answer, "detach"):  # a torch tensor that may know where it came from
        answer = answer.detach().cpu()
    try:
        array = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = type(answer).__name__
        raise TypeError(
            f"a potential must return numbers, but this {kind} has none: {error}"
        ) from None
    return array
