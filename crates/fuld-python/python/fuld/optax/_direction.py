"""The direction of a step: the field applied to the momentum buffer, in each form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from fuld.optax._field import Field, Number, evaluate, field


def matched(
    b: optax.Updates, momentum: Number | None, alpha: Number, noise_scale: Number
) -> optax.Updates:
    """Return K/slope · ∇G_α(b/K), with slope 1 at 0 and K = noise_scale (1 - momentum)^(-1/α).

    The factors are those of `fuld::optimizer` in Rust, repeated here because Rust cannot compute
    with traced values.
    """
    memory = 1.0 if momentum is None else 1 - momentum

    def step(b: jax.Array, to: Callable[[Number], Number]) -> jax.Array:
        momentum_knee = to(noise_scale) * to(memory) ** (-1 / to(alpha))
        return _matched(b, field(alpha, np.dtype(b.dtype)), momentum_knee)

    return _through(b, alpha, step)


def matched_at(
    b: optax.Updates, alpha: Number, momentum_knee: Number, table: Callable[[np.dtype[Any]], Field]
) -> optax.Updates:
    """Return `matched` with a given momentum knee, and a table of the field for each type."""
    return _through(
        b, alpha, lambda b, to: _matched(b, table(np.dtype(b.dtype)), to(momentum_knee))
    )


def _matched(b: jax.Array, table: Field, momentum_knee: Number) -> jax.Array:
    direction: jax.Array = momentum_knee / table.slope * evaluate(table, b / momentum_knee)
    return direction


def paper(b: optax.Updates, rate: Number, alpha: Number, kappa: Number) -> optax.Updates:
    """Return κ^(α-1)/√lr · ∇G_α(√lr b/κ), which times lr is the paper's step."""

    def step(b: jax.Array, to: Callable[[Number], Number]) -> jax.Array:
        # At learning rate 0 the step is 0 whatever its direction.
        root = jnp.sqrt(jnp.where(rate > 0, to(rate), 1)).astype(b.dtype)
        table = field(alpha, np.dtype(b.dtype))
        height = to(kappa) ** (to(alpha) - 1)
        direction: jax.Array = height / root * evaluate(table, b * root / to(kappa))
        return direction

    return _through(b, alpha, step)


def _through(
    b: optax.Updates,
    alpha: Number,
    step: Callable[[jax.Array, Callable[[Number], Number]], jax.Array],
) -> optax.Updates:
    """Apply a step to every leaf, in single precision at least. At alpha = 2 it is b itself.

    For infinite b the field is 0 and the parameter would silently stop moving: NaN instead.
    """
    if isinstance(alpha, float) and alpha == 2:
        return b

    def leaf(b: jax.Array) -> jax.Array:
        b = jnp.asarray(b)
        dtype = b.dtype if jnp.issubdtype(b.dtype, jnp.floating) else jnp.result_type(float)
        working = np.dtype(np.float64 if dtype == np.float64 else np.float32)

        def to(x: Number) -> Number:
            return x.astype(working) if isinstance(x, jax.Array) else x

        direction = jnp.where(jnp.isinf(b), jnp.nan, step(b.astype(working), to))
        return jnp.where(jnp.equal(alpha, 2), b, direction.astype(dtype))

    return jax.tree.map(leaf, b)
