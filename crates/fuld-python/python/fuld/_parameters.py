"""The parameters of the law, and what makes a law a value."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuld import _native
from fuld._arrays import Values, double_array, evaluate, real_array


class Parameters:
    """A tail index and a scale, or arrays of them: checked here, once, and never changed."""

    __slots__ = ("_alpha", "_scale")
    _alpha: NDArray[np.float64]
    _scale: NDArray[np.float64]

    def __init__(self, alpha: ArrayLike, scale: ArrayLike = 1.0) -> None:
        for name, given in (("alpha", alpha), ("scale", scale)):
            values = double_array(given, name)
            values.setflags(write=False)
            object.__setattr__(self, f"_{name}", values)
        _native.check_parameters(self._alpha.reshape(-1), self._scale.reshape(-1))
        try:
            np.broadcast_shapes(self._alpha.shape, self._scale.shape)
        except ValueError:
            raise ValueError(
                f"alpha of shape {self._alpha.shape} and scale of shape {self._scale.shape} "
                "do not broadcast"
            ) from None

    @property
    def alpha(self) -> Values:
        """The tail index: a float, or an array that cannot be written to."""
        return self._alpha if self._alpha.ndim else self._alpha.item()

    @property
    def scale(self) -> Values:
        """The scale: a float, or an array that cannot be written to."""
        return self._scale if self._scale.ndim else self._scale.item()

    def _at(self, name: str, x: ArrayLike, argument: str = "x") -> Values:
        return evaluate(name, real_array(x, argument), self._alpha, self._scale)

    def _alone(self, name: str) -> Values:
        return evaluate(name, np.zeros(()), self._alpha, self._scale)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a law cannot be changed: make a new SymmetricStable to change {name}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a law cannot be changed")

    def __repr__(self) -> str:
        alpha, scale = (
            np.array2string(values, separator=", ") if values.ndim else repr(values.item())
            for values in (self._alpha, self._scale)
        )
        return f"{type(self).__name__}(alpha={alpha}, scale={scale})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameters):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type[Parameters], tuple[Values, Values]]:
        return type(self), (self.alpha, self.scale)

    def _key(self) -> tuple[object, ...]:
        return tuple((a.shape, a.tobytes()) for a in (self._alpha, self._scale))
