"""Formulas of the tail index in use, the knee and the limit, given the running sums."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from fuld.optax._constants import CONSTANTS
from fuld.optax._field import Number
from fuld.optax._sums import LogSums, NoiseSums

LN_2 = math.log(2)


def log_scale(mean: jax.Array, alpha: jax.Array) -> jax.Array:
    """Return log σ = E log|X| - C(1/α - 1)."""
    return mean - np.euler_gamma * (1 / alpha - 1)


def _spread(sums: LogSums, alpha: jax.Array) -> jax.Array:
    """Return τ = √(V - (π²/6)(1/α² + 1/2)), 0 where that is negative."""
    weight = jnp.where(sums.weight > 0, sums.weight, 1)
    variance = sums.squares / weight - (sums.sum / weight) ** 2
    return jnp.sqrt(jnp.maximum(variance - math.pi**2 / 6 * (1 / alpha**2 + 0.5), 0))


def alpha_in_use(noise: NoiseSums, momentum: LogSums) -> jax.Array:
    """Return the tail index to use: that of the noise as far as it explains the momentum."""
    at = CONSTANTS
    growth = noise.growth / noise.weight
    gaussian = growth < LN_2 / at.gaussian
    raw = LN_2 / jnp.where(gaussian, 1, growth)
    alpha = jnp.maximum(raw, at.min_alpha)
    trusted = at.initial_alpha + (alpha - at.initial_alpha) * trust(noise, momentum)
    alpha = jnp.where(alpha < at.initial_alpha, trusted, alpha)
    return jnp.where(gaussian, 2, jnp.floor(alpha / at.grid + 0.5) * at.grid)


def trust(noise: NoiseSums, momentum: LogSums) -> jax.Array:
    """Return how far stable noise explains the momentum, from 0 to 1."""
    at = CONSTANTS
    # No stable law grows less than the Gaussian.
    raw = LN_2 / jnp.maximum(noise.growth / noise.weight, LN_2 / 2)
    spread = _spread(momentum, jnp.clip(raw, at.min_alpha, 2))
    shared = jnp.maximum(noise.shared / jnp.where(noise.seen > 0, noise.seen, 1), 0)
    explained = jnp.clip((raw - at.no_noise) / (at.noise - at.no_noise), 0, 1)
    return explained / (1 + spread**2 + at.shared * shared)


def momentum_knee(
    momentum: LogSums, alpha: jax.Array, trust: jax.Array, limit: jax.Array, memory: Number
) -> jax.Array:
    """Return α^(1/α) s e^(1.25 τ + trust ε), or e^0.4 times the momentum's root mean square."""
    # How far the momentum exceeds that of clipped noise: √(1 - μ²) from 1 - μ.
    width = jnp.asarray(memory, np.float32) * (2 - jnp.asarray(memory, np.float32))
    mean = momentum.sum / jnp.where(momentum.weight > 0, momentum.weight, 1)
    short = jnp.log(limit) - 0.5 * jnp.log(width) + CONSTANTS.knee_short
    further = jnp.clip(CONSTANTS.knee_behind * (mean - short), 0, CONSTANTS.knee_limited)
    spread = CONSTANTS.knee_spread * _spread(momentum, alpha)
    beyond = jnp.log(alpha) / alpha + spread + further * trust
    return _at(momentum, alpha, beyond, CONSTANTS.knee_root, trust)


def limit(gradients: LogSums, alpha: Number, trust: jax.Array) -> jax.Array:
    """Return λ s e^((3 - 1.5 trust) τ - 0.5) of the gradients, or e^3.4 of their r.m.s.

    λ = 1/(1 - (α/2)^32)
    """
    alpha = jnp.full_like(gradients.weight, alpha)
    late = 1 - (alpha / 2) ** CONSTANTS.limit_power
    ahead = CONSTANTS.limit - jnp.log(jnp.where(alpha < 2, late, 1))
    spreads = CONSTANTS.limit_spread - CONSTANTS.limit_spread_noise * trust
    beyond = ahead + spreads * _spread(gradients, alpha)
    place = _at(gradients, alpha, beyond, CONSTANTS.limit_root, trust)
    return jnp.where(alpha < 2, place, jnp.inf)


def _at(
    sums: LogSums, alpha: jax.Array, beyond: jax.Array, roots: float, trust: jax.Array
) -> jax.Array:
    """Return s e^beyond, moved out to e^roots of the r.m.s. as far as noise is not trusted.

    The result is clipped to the range of single precision, and infinite without gradients.
    """
    weight = jnp.where(sums.weight > 0, sums.weight, 1)
    noise = log_scale(sums.sum / weight, alpha) + beyond
    signal = roots + sums.root / weight
    place = jnp.exp(noise + (1 - trust) * jnp.maximum(signal - noise, 0))
    return jnp.where(
        sums.weight > 0, jnp.clip(place, CONSTANTS.smallest, CONSTANTS.largest), jnp.inf
    )
