"""Log densities with written gradients, as potentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class LogDensity:
    """A function that returns a log density and its gradient, as a potential."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__qualname__ = getattr(function, "__qualname__", type(function).__name__)

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401
        """Return minus the log density, and its gradient."""
        answer = self.function(*arguments)
        if not (isinstance(answer, tuple) and len(answer) == 2):
            return answer
        value, gradient = answer
        return _minus(value), _minus(gradient)


def _minus(value: Any) -> Any:  # noqa: ANN401
    return -value if hasattr(value, "__neg__") else -np.asarray(value)
