"""Running sums over gradients and momenta, from which `_estimates` computes.

All arrays of a tree are treated at once: one row for each, padded with zeros, which have no
logarithm and are ignored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from fuld.optax._constants import CONSTANTS


class LogSums(NamedTuple):
    """Number, sum and sum of squares of log|x|, over the last steps."""

    weight: Any
    sum: Any
    squares: Any
    #: Of the logarithm of the root mean square.
    root: Any


class NoiseSums(NamedTuple):
    """Sums over first and second differences of gradients, for the noise."""

    weight: Any
    growth: Any
    seen: Any
    log: Any
    #: Of the covariance of log|difference| between neighbours.
    shared: Any


def select(condition: jax.Array, new: Any, old: Any) -> Any:  # noqa: ANN401
    """Return the new sums of the arrays where the condition holds, else the old ones."""
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), new, old)


def _counts(x: jax.Array) -> jax.Array:
    """Return whether a number has a finite logarithm: not so zeros, NaN and infinity."""
    limits, size = np.finfo(np.float32), jnp.abs(x)
    return (size >= limits.tiny) & (size <= limits.max)


def _logs(x: jax.Array, counts: jax.Array) -> jax.Array:
    return jnp.log(jnp.abs(jnp.where(counts, x, 1)))


def add_logs(old: LogSums, x: jax.Array, sampled: jax.Array, counts: jax.Array) -> LogSums:
    """Add the logarithms of the sampled numbers."""
    there = sampled & _counts(x)
    logs = _logs(x, there)
    weight, total, squares = (
        jnp.sum(x, axis=1) / counts for x in (there.astype(x.dtype), logs, logs**2)
    )
    # The root mean square in units of the geometric mean, which leaves no number out.
    middle = total / jnp.where(weight > 0, weight, 1)
    square = jnp.sum(jnp.where(there, x * jnp.exp(-middle)[:, None], 0) ** 2, axis=1) / counts
    square = jnp.minimum(square / jnp.where(weight > 0, weight, 1), np.finfo(np.float32).max)
    root = middle + 0.5 * jnp.log(jnp.where(weight > 0, square, 1))
    seen = LogSums(weight, total, squares, weight * root)
    keep = 1 - 1 / CONSTANTS.steps
    new = LogSums(*(keep * old + seen for old, seen in zip(old, seen, strict=True)))
    updated: LogSums = select(seen.weight > 0, new, old)
    return updated


def add_quadruple(
    old: NoiseSums, first: jax.Array, second: jax.Array, counts: NDArray[Any]
) -> NoiseSums:
    """Add a quadruple: the differences of its two pairs."""
    there = _counts(first) & _counts(second)
    number = jnp.sum(there, axis=1).astype(np.float32)
    a, b = (jnp.sum(_logs(x, there), axis=1) / jnp.maximum(number, 1) for x in (first, second))
    mean, half = (a + b) / 2, (b - a)[:, None] / 2
    shared = _shared(first, a)
    # Each pair in units of its own mean.
    first, second = jnp.where(there, first, 0), jnp.where(there, second, 0)
    contrast = first * jnp.exp(half) + second * jnp.exp(-half)
    both = there & _counts(contrast)
    number_of_both = jnp.sum(both, axis=1).astype(np.float32)
    log = jnp.sum(_logs(contrast, both), axis=1) / jnp.maximum(number_of_both, 1)
    weight, keep = number / counts, 1 - 1 / CONSTANTS.quadruples
    new = NoiseSums(
        weight=keep * old.weight + weight,
        growth=keep * old.growth + weight * (log - mean),
        seen=keep * old.seen + weight,
        log=keep * old.log + weight * mean,
        shared=keep * old.shared + weight * shared,
    )
    updated: NoiseSums = select(number_of_both > 0, new, old)
    return updated


def _shared(first: jax.Array, mean: jax.Array) -> jax.Array:
    """Return the mean covariance of the logarithms of neighbours in a row."""
    there = _counts(first)
    off = jnp.where(there, _logs(first, there) - mean[:, None], 0)
    ends = (np.arange(first.shape[1] - 1) + 1) % int(CONSTANTS.row) == 0
    pairs = there[:, 1:] & there[:, :-1] & ~ends
    number = jnp.sum(pairs, axis=1)
    return jnp.sum(jnp.where(pairs, off[:, 1:] * off[:, :-1], 0), axis=1) / jnp.maximum(number, 1)
