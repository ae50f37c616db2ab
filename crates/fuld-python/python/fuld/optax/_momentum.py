"""The momentum buffer of `optax.sgd`, with types that do not change between steps."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax.typing import DTypeLike

from fuld.optax._field import Number


def accumulate(
    momentum: Number | None, nesterov: bool, dtype: DTypeLike | None
) -> optax.GradientTransformation:
    """Return the transformation b ← momentum b + g, for real parameters and with fixed types."""
    trace = optax.identity() if momentum is None else optax.trace(momentum, nesterov, dtype)

    def init(params: optax.Params) -> optax.OptState:
        _refuse_complex(params)
        return trace.init(params)

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.OptState]:
        _refuse_complex(updates)
        b, new = trace.update(updates, state, params)
        if isinstance(momentum, jax.Array):
            # A traced momentum has its own type, to which all others would be promoted.
            b = jax.tree.map(_as_real, b, updates) if dtype is None else b
            new = jax.tree.map(_as_real, new, state)
        return b, new

    return optax.GradientTransformation(init, update)


def _as_real(new: jax.Array, old: jax.Array) -> jax.Array:
    """Return `new` in the type of `old`, unless that is an integer type."""
    dtype = jnp.result_type(old)
    return new.astype(dtype) if jnp.issubdtype(dtype, jnp.floating) else new


def _refuse_complex(tree: optax.Params) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating):
            name = jax.tree_util.keystr(path) or "the parameter"
            raise TypeError(
                f"{name} must be real, got {jnp.result_type(leaf)}: "
                "wrap the optimizer in optax.contrib.split_real_and_imaginary"
            )
