"""Models: log densities with named variables, as the sampler sees them.

The sampler works with points x whose coordinates may take any real value. A model computes the
potential f(x), minus the log density of x, and turns points into the values of its variables.
Adapters of other packages, such as `fuld._pymc`, implement `Model`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld._constraints import Array


class NotPicklableError(TypeError):
    """A model cannot be sent to other processes; the message says what to use instead."""


class Model(ABC):
    """A log density with named variables."""

    #: The name in settings and headlines.
    name: str
    #: The number of coordinates.
    dim: int
    #: Whether the function takes the points of all chains at once.
    vectorized: bool = True
    #: Whether the function takes random bits, which choose a minibatch.
    stochastic: bool = False
    #: Whether the user wrote the gradient, which may then be wrong.
    written_gradient: bool = False
    #: Whether JAX computes the gradient: it cannot be used in processes that were forked.
    uses_jax: bool = False
    #: Whether draws are returned by variable; otherwise they are one array of points.
    named: bool = True
    #: Names of the axes of variables, and labels along axes.
    dims: Mapping[str, Sequence[str]]
    coords: Mapping[str, Sequence[Any]]

    @abstractmethod
    def __call__(self, x: Array, *words: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return f = -log p and its gradient at points (n, dim), or at one point (dim,)."""

    @abstractmethod
    def values(self, x: Array) -> dict[str, NDArray[Any]]:
        """Return the variables by name at points (n, dim): arrays (n, ...)."""

    def variable_names(self) -> list[str]:
        """Return the names of the variables."""
        return list(self.values(np.zeros((1, self.dim))))

    def coordinates(self, values: Mapping[str, object]) -> Array:
        """Return the point at which the variables have these values."""
        raise TypeError(
            f"start must be an array of coordinates for {self.name}, whose variables fuld does "
            "not transform itself"
        )

    def identity(self) -> object:
        """Return what identifies the model in a store: data, and code that can be hashed."""
        return self

    def named_draws(self, x: Array) -> dict[str, NDArray[Any]]:
        """Return the variables of draws (chains, draws, dim): arrays (chains, draws, ...)."""
        chains, draws, dim = x.shape
        with np.errstate(all="ignore"):
            named = self.values(x.reshape(-1, dim))
        return {name: a.reshape(chains, draws, *a.shape[1:]) for name, a in named.items()}
