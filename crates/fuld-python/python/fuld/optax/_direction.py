"""Where the buffer leads: its way through the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from fuld.optax._field import Field, Number, evaluate, field


def matched(
    b: optax.Updates, momentum: Number | None, alpha: Number, scale: Number
) -> optax.Updates:
    """K/slope · ∇G_α(b/K): slope 1 at 0, and a bend where noise of the given scale puts b.

    The factors are those of `fuld::optimizer` in Rust; they stand here again because Rust cannot
    compute with what is traced.
    """
    memory = 1.0 if momentum is None else 1 - momentum

    def step(b: jax.Array, to: Callable[[Number], Number]) -> jax.Array:
        bend = to(scale) * to(memory) ** (-1 / to(alpha))
        return _bent(b, field(alpha, np.dtype(b.dtype)), bend)

    return _through(b, alpha, step)


def bent_at(
    b: optax.Updates, alpha: Number, bend: Number, table: Callable[[np.dtype[Any]], Field]
) -> optax.Updates:
    """`matched` with the bend K where it is wanted, and a table of alpha for each type."""
    return _through(b, alpha, lambda b, to: _bent(b, table(np.dtype(b.dtype)), to(bend)))


def _bent(b: jax.Array, table: Field, bend: Number) -> jax.Array:
    direction: jax.Array = bend / table.slope * evaluate(table, b / bend)
    return direction


def paper(b: optax.Updates, rate: Number, alpha: Number, scale: Number) -> optax.Updates:
    """κ^(α-1)/√lr · ∇G_α(√lr b/κ), which times lr is the paper's step."""

    def step(b: jax.Array, to: Callable[[Number], Number]) -> jax.Array:
        # At learning rate 0 the step is 0 whatever its direction.
        root = jnp.sqrt(jnp.where(rate > 0, to(rate), 1)).astype(b.dtype)
        table = field(alpha, np.dtype(b.dtype))
        height = to(scale) ** (to(alpha) - 1)
        direction: jax.Array = height / root * evaluate(table, b * root / to(scale))
        return direction

    return _through(b, alpha, step)


def _through(
    b: optax.Updates,
    alpha: Number,
    step: Callable[[jax.Array, Callable[[Number], Number]], jax.Array],
) -> optax.Updates:
    """Take a step with every leaf, in single precision at least. At alpha = 2 it is b itself.

    Where b is infinite the field is 0, and a parameter would stand still for ever, unseen: NaN.
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
