"""Potentials: formulas, names, and functions of one point or of all chains at once."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld._answers import float64

#: A formula or a name, or a function that returns value and gradient.
Potential: TypeAlias = str | Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Target:
    """A potential with all that is needed to build it again, in this process or in another."""

    potential: Potential
    dim: int | None
    params: Mapping[str, float]
    vectorized: bool = False
    stochastic: bool = False
    fingerprint: int = 0

    def native(self) -> _native.Target:
        """Build it."""
        if isinstance(self.potential, str):
            return _native.Target.of_text(self.potential, self.dim, dict(self.params))
        assert self.dim is not None
        return _native.Target.of_function(
            self.potential, self.dim, self.vectorized, self.stochastic, self.fingerprint
        )


def target_of(
    potential: Potential,
    *,
    dim: int | None,
    params: Mapping[str, float] | None,
    vectorized: bool | None,
    stochastic: bool,
    chains: int,
    seed: int,
    start: list[float] | None,
    spread: float,
) -> Target:
    """Find out all there is to know of a potential; a function is tried where chains start."""
    if isinstance(potential, str):
        if vectorized is not None or stochastic:
            raise ValueError(
                "vectorized and stochastic are for functions, not for formulas or names"
            )
        return Target(potential, dim, dict(params or {}))
    if not callable(potential):
        raise TypeError(
            "potential must be a formula like 'x^4/4 - x^2/2', a name like 'double_well', or a "
            f"function that returns (value, gradient), got {type(potential).__name__}"
        )
    if params:
        raise ValueError("params are for potentials with names; a function has its own")
    if dim is None:
        dim = len(start) if start is not None else 1
    if start is not None and len(start) not in (1, dim):
        raise ValueError(f"start has {len(start)} coordinates, the potential {dim}")
    # As many points as chains, so that a function that is compiled for a shape is so only once; but
    # never as many as coordinates, so that shapes tell which is which.
    count = max(chains, 1)
    points = _native.starts(dim, count + (count == dim), seed, start, spread)
    trial = _Trial(potential, stochastic, points)
    if vectorized is None:
        vectorized = trial.is_vectorized()
    value, gradient = trial.all_points(vectorized)
    trial.check(value, gradient, chains, vectorized)
    digest = hashlib.blake2b(value.tobytes() + gradient.tobytes(), digest_size=8).digest()
    return Target(potential, dim, {}, vectorized, stochastic, int.from_bytes(digest, "little"))


@dataclass(frozen=True)
class _Trial:
    """A function and the points at which it is tried."""

    function: Callable[..., tuple[Any, Any]]
    stochastic: bool
    points: NDArray[np.float64]

    def call(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Value and gradient at a point (dim,) or points (chains, dim)."""
        one = x.ndim == 1
        words: Any = 0 if one else np.zeros(len(x), np.uint64)
        answer = self.function(x.copy(), words) if self.stochastic else self.function(x.copy())
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise TypeError(
                f"a potential must return a tuple (value, gradient), got {type(answer).__name__}"
            )
        value, gradient = float64(answer[0]), float64(answer[1])
        if one and value.size == 1:
            value = value.reshape(())
        if value.shape != x.shape[:-1] or gradient.shape != x.shape:
            raise ValueError(
                f"at points of shape {x.shape} a potential must return a value of shape "
                f"{x.shape[:-1]} and a gradient of shape {x.shape}, got {value.shape} and "
                f"{gradient.shape}"
            )
        return value, gradient

    def is_vectorized(self) -> bool:
        """Whether the function takes many points, and each for itself."""
        try:
            value, gradient = self.call(self.points)
            first = self.call(self.points[:1])
        except Exception as many:
            try:
                self.call(self.points[0])
            except Exception as one:
                # The message that is about what the user meant is the one about one point, unless
                # the function does take many and fails otherwise.
                raise one from many
            return False
        same = np.allclose(first[0], value[:1], rtol=1e-3, equal_nan=True)
        return same and np.allclose(first[1], gradient[:1], rtol=1e-3, atol=1e-6, equal_nan=True)

    def all_points(self, vectorized: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Value and gradient at all points."""
        if vectorized:
            return self.call(self.points)
        pairs = [self.call(x) for x in self.points]
        return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])

    def check(
        self,
        value: NDArray[np.float64],
        gradient: NDArray[np.float64],
        chains: int,
        vectorized: bool,
    ) -> None:
        """Refuse starts without a value; warn of a gradient that is of another function."""
        outside = np.flatnonzero(~np.isfinite(value[:chains]))
        if len(outside) > 0:
            raise ValueError(
                f"{len(outside)} of {chains} chains would start where f is not a finite number, as "
                f"at {self.points[outside[0]]}: give a start inside, such as 1"
            )
        size = float(np.linalg.norm(gradient[0]))
        if self.stochastic or not (0.0 < size < np.inf):
            return
        # Along the gradient, in steps that single precision can see.
        step = 1e-2 * max(1.0, float(np.linalg.norm(self.points[0])))
        along = gradient[0] / size
        ends = np.stack([self.points[0] + step * along, self.points[0] - step * along])
        at = self.call(ends)[0] if vectorized else np.array([self.call(x)[0] for x in ends])
        slope = float(at[0] - at[1]) / (2 * step)
        if np.isfinite(slope) and not (0.8 * size < slope < 1.25 * size):
            warnings.warn(
                f"the gradient does not belong to the value: at {self.points[0]} it has size "
                f"{size:.4g}, but along it f changes at a rate of {slope:.4g}. The function must "
                "return f and its gradient, where exp(-beta f) is the density (not log density)",
                stacklevel=4,
            )
