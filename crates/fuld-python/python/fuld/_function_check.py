"""Checks of a user's function at the points where chains start.

They find out whether the function takes one point or those of all chains, whether its values have
the right shapes, and whether the gradient belongs to the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld._gradients import only_a_value
from fuld._returned_arrays import check_precision, float64


class WrongTypeError(TypeError):
    """A function returned something other than value and gradient."""


class WrongShapeError(ValueError):
    """A function returned arrays of other shapes."""


@dataclass(frozen=True)
class FunctionCheck:
    """A function and the points at which it is checked: those where chains start."""

    function: Callable[..., tuple[Any, Any]]
    stochastic: bool
    points: NDArray[np.float64]

    def call(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Value and gradient at a point (dim,) or points (chains, dim)."""
        one = x.ndim == 1
        words: Any = 0 if one else np.zeros(len(x), np.uint64)
        answer = self.function(x.copy(), words) if self.stochastic else self.function(x.copy())
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise WrongTypeError(only_a_value(answer))
        check_precision(answer)
        # Copied, since a function may use the same memory for every answer.
        value, gradient = float64(answer[0]).copy(), float64(answer[1]).copy()
        if one and value.size == 1:
            value = value.reshape(())
        if x.shape[-1] == 1:
            # With one coordinate, shapes with and without its axis mean the same.
            value = value.reshape(x.shape[:-1]) if value.size == x.size else value
            gradient = gradient.reshape(x.shape) if gradient.size == x.size else gradient
        if value.shape != x.shape[:-1] or gradient.shape != x.shape:
            raise WrongShapeError(
                f"for points of shape {x.shape} a potential must return a value of shape "
                f"{x.shape[:-1]} and a gradient of shape {x.shape}, got {value.shape} and "
                f"{gradient.shape}"
            )
        return value, gradient

    def is_vectorized(self) -> bool:
        """Whether the function takes many points, and each for itself."""
        try:
            together = self.call(self.points)
            # The ends, since a function may go through the points in their order.
            alone = [self.call(self.points[at : at + 1]) for at in (0, len(self.points) - 1)]
        except Exception as many:
            try:
                self.call(self.points[0])
            except Exception as one:
                raise _better(many, one) from many
            return False
        ends = [np.stack([alone[0][i][0], alone[1][i][0]]) for i in (0, 1)]
        there = [array[[0, -1]] for array in together]
        if np.allclose(ends[0], there[0], rtol=1e-3, equal_nan=True) and np.allclose(
            ends[1], there[1], rtol=1e-3, atol=1e-6, equal_nan=True
        ):
            return True
        try:
            self.call(self.points[0])
        except Exception:
            raise ValueError(
                "the potential does not return the same for a chain alone as for the same chain "
                "among others: it mixes chains, or is random. Chains must not know of each other; "
                "if they are to, say vectorized=True, and for random functions stochastic=True"
            ) from None
        return False

    def all_points(self, vectorized: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Value and gradient at all points."""
        if vectorized:
            return self.call(self.points)
        pairs = [self.call(x) for x in self.points]
        return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])

    def check_starts(self, value: NDArray[np.float64], chains: int, redrawn: bool) -> None:
        """Raise an error if f is not finite at a start; `redrawn` starts need one that is."""
        outside = np.flatnonzero(~np.isfinite(value[:chains]))
        if len(outside) > (chains - 1 if redrawn else 0):
            reason = getattr(self.function, "rejected", "")
            raise ValueError(
                f"{len(outside)} of {chains} chains would start where f is not a finite number, as "
                f"at {self.points[outside[0]]}: give a start at which f is finite, or correct f"
                + (f" ({reason})" if reason else "")
            )

    def wrong_gradient(self, gradient: NDArray[np.float64], vectorized: bool) -> list[str]:
        """Return a warning if the gradient is that of another function."""
        size = float(np.linalg.norm(gradient[0]))
        if self.stochastic or not (0.0 < size < np.inf):
            return []
        # Along the gradient, and along a direction that has a part of every coordinate.
        slant = np.cos(np.arange(1.0, len(gradient[0]) + 1.0))
        for along in (gradient[0] / size, slant / np.linalg.norm(slant)):
            expected = float(along @ gradient[0])
            slopes = self._slopes(along, vectorized)
            if slopes and all(abs(slope - expected) > 0.2 * size for slope in slopes):
                return [
                    f"the gradient seems not to be that of the value: at {self.points[0]}, in the "
                    f"direction {along}, it says that the function changes at a rate of "
                    f"{expected:.4g}, but it changes at {slopes[0]:.4g}. Correct the gradient, or "
                    "return the value alone from a function written with jax.numpy or torch"
                ]
        return []

    def _slopes(self, along: NDArray[np.float64], vectorized: bool) -> list[float]:
        """How fast f changes at the first point, by differences over two lengths.

        One is such that single precision can see it, the other too short for narrow valleys.
        """
        start, slopes = self.points[0], []
        for length in (1e-2, 1e-5):
            step = length * max(1.0, float(np.linalg.norm(start)))
            ends = np.stack([start + step * along, start - step * along])
            try:
                at = self.call(ends)[0] if vectorized else np.array([self.call(x)[0] for x in ends])
            except Exception:
                continue  # beside the start there may be nothing
            slopes.append(float(at[0] - at[1]) / (2 * step))
        return [slope for slope in slopes if np.isfinite(slope)]


def _better(many: Exception, one: Exception) -> Exception:
    """Return the more informative of the errors for all chains and for one point."""
    ours = (WrongTypeError, WrongShapeError)
    error: Exception
    if isinstance(many, ours) and not isinstance(one, ours):
        # The function works for all chains, so the error for one point does not help.
        error, note = many, f"fuld: called with one point, it raised {one!r}"
    else:
        error, note = one, f"fuld: called with one point, after points of all chains gave {many!r}"
    # If it fails in the same way for both, how it is called is not the reason.
    if type(many) is type(one) and str(many) == str(one):
        return many
    if hasattr(error, "add_note"):
        error.add_note(note)
    return error
