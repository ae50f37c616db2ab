"""Random draws from the law of the velocity, in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuld.optax._field import Number


def velocities(
    key: jax.Array, shape: tuple[int, ...], alpha: Number, dtype: np.dtype[Any]
) -> jax.Array:
    """Draw from SαS(α^(-1/α)), whose density is e^(-G_α), for an alpha known or traced.

    This is the method of Chambers, Mallows and Stuck: with φ uniform on (-π/2, π/2) and W
    exponential,

        v = sin αφ (α cos φ)^(-1/α) (cos((α - 1)φ) / W)^((1 - α)/α)

    It is exact, and continuous at alpha = 1 and alpha = 2. Large v come from small cos φ and from
    large or small W. π/2 - abs(φ) and W are therefore drawn with small relative errors down to
    2**-64, in float32 too. Draws beyond the largest number of the dtype are set to that number.
    """
    words = jax.random.bits(key, (4, *shape), np.uint32)
    at_edge, share, sign = _half(words[0], words[1], dtype)
    above_one, level, _ = _half(words[2], words[3], dtype)
    a = alpha if isinstance(alpha, float) else jnp.asarray(alpha, dtype)

    # φ ≥ 0, and its distance from π/2.
    short = 0.5 * np.pi * share
    phi = jnp.where(at_edge, 0.5 * np.pi - short, short)
    sin, cos = _where_swapped(at_edge, jnp.sin(short), jnp.cos(short))

    # |α - 1|φ, by its distance from π/2 where φ is near π/2: near alpha = 2 that is small.
    slope: Any = abs(a - 1)
    rest = 0.5 * np.pi * (1 - slope) + slope * short
    angle = jnp.where(at_edge, rest, slope * short)
    sin_e, cos_e = _where_swapped(at_edge, jnp.sin(angle), jnp.cos(angle))
    sin_a = jnp.where(a < 1, jnp.sin(a * phi), sin * cos_e + cos * sin_e)

    wait = jnp.where(above_one, -jnp.log(level), -jnp.log1p(-level))
    exponent = ((a - 1) * jnp.log(wait / cos_e) - jnp.log(cos) - jnp.log(a)) / a
    size = jnp.minimum(sin_a * jnp.exp(exponent), float(np.finfo(dtype).max))
    return jnp.where(sign, -size, size)


def _half(
    high: jax.Array, low: jax.Array, dtype: np.dtype[Any]
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return a random bit, a uniform number in (0, 1/2], and another bit.

    The number has 62 bits, so that it is as fine near 0 as floats are.
    """
    fine = ((low >> 1).astype(dtype) + 0.5) * 2.0**-63
    number = (high & 0x7FFFFFFF).astype(dtype) * 2.0**-32 + fine
    return high >> 31 == 1, number, low & 1 == 1


def _where_swapped(
    swapped: jax.Array, first: jax.Array, second: jax.Array
) -> tuple[jax.Array, jax.Array]:
    return jnp.where(swapped, second, first), jnp.where(swapped, first, second)
