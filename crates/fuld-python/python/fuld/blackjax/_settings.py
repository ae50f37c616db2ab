"""Checks of the settings of a kernel. Traced values cannot be read, so only shapes are checked."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from fuld.optax._field import LEAST_ALPHA, Number
from fuld.optax._settings import positive, setting


def alpha_setting(value: ArrayLike) -> Number:
    """Return the tail index."""
    return setting("alpha", value, lambda x: LEAST_ALPHA <= x <= 2, f"be in [{LEAST_ALPHA}, 2]")


def step_size_setting(value: Any) -> Any:  # noqa: ANN401
    """Return the step size, one number."""
    if jnp.ndim(value) != 0:
        raise TypeError(
            f"step_size must be one number, got an array of shape {jnp.shape(value)}; the order is "
            "fuld(logdensity_fn, alpha, step_size, num_integration_steps, inverse_mass_matrix)"
        )
    return value if isinstance(value, jax.Array) else positive("step_size", value)


def steps_setting(value: Any) -> Any:  # noqa: ANN401
    """Return the number of integration steps."""
    if isinstance(value, jax.Array):
        return value
    steps = operator.index(value)
    if steps < 1:
        raise ValueError(f"num_integration_steps must be at least 1, got {steps}")
    return steps


def inverse_mass_setting(value: ArrayLike) -> jax.Array:
    """Return the diagonal of the inverse mass matrix, or all of it."""
    # One number is for all coordinates.
    array = jnp.atleast_1d(jnp.asarray(value))
    if not jnp.issubdtype(array.dtype, jnp.floating):
        array = array.astype(float)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[0] != array.shape[1]):
        raise ValueError(
            "inverse_mass_matrix must be a vector or a square matrix, got an array of shape "
            f"{array.shape}"
        )
    if isinstance(array, jax.core.Tracer):
        return array
    diagonal = np.diag(array) if array.ndim == 2 else np.asarray(array)
    bad = diagonal[~((diagonal > 0) & (diagonal < np.inf))]
    if bad.size:
        raise ValueError(
            f"the diagonal of inverse_mass_matrix must be positive and finite, got {bad[0]}"
        )
    if array.ndim == 2 and not np.isfinite(jnp.linalg.cholesky(array)).all():
        least = np.linalg.eigvalsh(array)[0]
        raise ValueError(
            "inverse_mass_matrix must be symmetric and positive definite, got a matrix whose least "
            f"eigenvalue is {least:.3g}"
        )
    return array
