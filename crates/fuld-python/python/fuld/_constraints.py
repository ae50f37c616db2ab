"""Constraints of variables: maps from the real line, with their Jacobians.

A sampler works with coordinates u that may take any real value. A constraint maps them to a
variable y = y(u), such as y = exp(u) > 0. The density of u is that of y times |dy/du|, so each
constraint computes

- `forward`: y, and log|dy/du|,
- `pull_back`: the gradient of log p(y(u)) + log|dy/du| in u, from that of log p in y,
- `inverse`: u from y.

Arrays have the points along their first axis, and the variable along the others. Constraints of
vectors, such as simplexes, apply to the last axis.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = tuple[int, ...]


class Constraint(ABC):
    """A map from coordinates of any real value to a variable."""

    #: What the variable must satisfy, for errors.
    says: str

    def free_shape(self, shape: Shape) -> Shape:
        """Return the shape of the coordinates of a variable of this shape."""
        return shape

    @abstractmethod
    def forward(self, u: Array) -> tuple[Array, Array]:
        """Return the variable, and for each point the logarithm of the Jacobian."""

    @abstractmethod
    def pull_back(self, u: Array, y: Array, gradient: Array) -> Array:
        """Return the gradient in u of the log density with its Jacobian, from that in y."""

    @abstractmethod
    def inverse(self, y: Array) -> Array:
        """Return the coordinates of a variable; NaN or infinite where it has none."""


class Real(Constraint):
    """Any real value."""

    says = "be finite"

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Return u itself."""
        return u, np.zeros(len(u))

    def pull_back(self, u: Array, y: Array, gradient: Array) -> Array:
        """Return the gradient itself."""
        return gradient

    def inverse(self, y: Array) -> Array:
        """Return y itself."""
        return y


@dataclass(frozen=True)
class HalfLine(Constraint):
    """y = end + sign exp(u): above the end if the sign is 1, below it if it is -1."""

    end: float = 0.0
    sign: float = 1.0

    @property
    def says(self) -> str:  # type: ignore[override]
        """What the variable must satisfy."""
        return f"be {'above' if self.sign > 0 else 'below'} {self.end:g}"

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Return y and the sum of u."""
        return self.end + self.sign * np.exp(u), _sum(u)

    def pull_back(self, u: Array, y: Array, gradient: Array) -> Array:
        """Return the gradient in u."""
        return self.sign * gradient * np.exp(u) + 1

    def inverse(self, y: Array) -> Array:
        """Return log|y - end|."""
        return np.log(self.sign * (y - self.end))


@dataclass(frozen=True)
class Interval(Constraint):
    """y = lower + (upper - lower) s with s = 1/(1 + exp(-u))."""

    lower: float
    upper: float

    @property
    def says(self) -> str:  # type: ignore[override]
        """What the variable must satisfy."""
        return f"be between {self.lower:g} and {self.upper:g}"

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Return y and the sum of log((upper - lower) s (1 - s))."""
        length = self.upper - self.lower
        # s (1 - s) is even in u: the form for negative u does not overflow.
        small = np.exp(-np.abs(u))
        log_slope = np.log(length) - np.abs(u) - 2 * np.log1p(small)
        near, far = length * small / (1 + small), length / (1 + small)
        return self.lower + np.where(u < 0, near, far), _sum(log_slope)

    def pull_back(self, u: Array, y: Array, gradient: Array) -> Array:
        """Return the gradient in u."""
        small = np.exp(-np.abs(u))
        slope = (self.upper - self.lower) * small / (1 + small) ** 2
        back: Array = gradient * slope - np.tanh(0.5 * u)
        return back

    def inverse(self, y: Array) -> Array:
        """Return log((y - lower)/(upper - y))."""
        return np.log((y - self.lower) / (self.upper - y))


class Ordered(Constraint):
    """y_1 = u_1 and y_i = y_(i-1) + exp(u_i): ascending along the last axis."""

    says = "ascend along its last axis"

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Return y and the sum of u but for the first."""
        steps = np.concatenate([u[..., :1], np.exp(u[..., 1:])], axis=-1)
        return np.cumsum(steps, axis=-1), _sum(u[..., 1:])

    def pull_back(self, u: Array, y: Array, gradient: Array) -> Array:
        """Return the gradient in u."""
        later = np.cumsum(gradient[..., ::-1], axis=-1)[..., ::-1]
        return np.concatenate([later[..., :1], later[..., 1:] * np.exp(u[..., 1:]) + 1], axis=-1)

    def inverse(self, y: Array) -> Array:
        """Return the first value and the logarithms of the differences."""
        return np.concatenate([y[..., :1], np.log(np.diff(y, axis=-1))], axis=-1)


class Simplex(Constraint):
    """y = softmax(z): positive numbers along the last axis whose sum is 1.

    z = B u with the orthonormal columns of Helmert's matrix, which are orthogonal to (1, ..., 1).
    The volume that y covers on the simplex, as seen in its first k - 1 components, is the product
    of all y times √k.
    """

    says = "be positive with sum 1 along its last axis"

    def free_shape(self, shape: Shape) -> Shape:
        """Return a shape with one coordinate less."""
        return (*shape[:-1], shape[-1] - 1)

    def forward(self, u: Array) -> tuple[Array, Array]:
        """Return y and the logarithm of the product of all y times √k."""
        z = u @ _helmert(u.shape[-1] + 1).T
        z = z - z.max(axis=-1, keepdims=True)
        log_sum = np.log(np.exp(z).sum(axis=-1, keepdims=True))
        log_y = z - log_sum
        vectors = u[..., 0].size // len(u) if u.shape[-1] else 0
        return np.exp(log_y), _sum(log_y) + 0.5 * vectors * np.log(u.shape[-1] + 1)

    def pull_back(self, u: Array, y: Array, gradient: Array) -> Array:
        """Return the gradient in u."""
        mean = (gradient * y).sum(axis=-1, keepdims=True)
        size = y.shape[-1]
        back: Array = (y * (gradient - mean) + 1 - size * y) @ _helmert(size)
        return back

    def inverse(self, y: Array) -> Array:
        """Return the coordinates of log y."""
        off = np.abs(y.sum(axis=-1, keepdims=True) - 1) > 1e-6
        u: Array = np.log(np.where(off, np.nan, y)) @ _helmert(y.shape[-1])
        return u


def _helmert(size: int) -> Array:
    """Return size - 1 orthonormal columns that are orthogonal to (1, ..., 1)."""
    matrix = np.zeros((size, size - 1))
    for i in range(1, size):
        matrix[:i, i - 1] = 1 / np.sqrt(i * (i + 1))
        matrix[i, i - 1] = -i / np.sqrt(i * (i + 1))
    return matrix


def _sum(values: Array) -> Array:
    """Return the sum for each point."""
    total: Array = values.reshape(len(values), -1).sum(axis=1)
    return total


#: Constraints by name: the numbers that follow the name, and how the constraint is made of them.
CONSTRAINTS: dict[str, tuple[tuple[str, ...], Callable[..., Constraint]]] = {
    "real": ((), Real),
    "positive": ((), HalfLine),
    "lower": (("end",), HalfLine),
    "upper": (("end",), lambda end: HalfLine(end, -1.0)),
    "unit_interval": ((), lambda: Interval(0.0, 1.0)),
    "interval": (("lower", "upper"), Interval),
    "ordered": ((), Ordered),
    "simplex": ((), Simplex),
}


def constraint(name: str, numbers: tuple[float, ...]) -> Constraint:
    """Return the constraint of this name."""
    return CONSTRAINTS[name][1](*numbers)
