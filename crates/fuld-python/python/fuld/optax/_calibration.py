"""Estimates of alpha, the knee and the limit from successive gradients: `Calibration` in JAX.

`fuld::optimizer` documents the estimators. The formulas are repeated here because Rust cannot
compute with traced values; a test compares the two. Here all arrays of a tree are treated at once:
one row for each, padded with zeros, which have no logarithm and are ignored.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld.optax._constants import CONSTANTS, ESTIMATORS
from fuld.optax._field import Number
from fuld.optax._sampled_positions import count

LN_2 = math.log(2)


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


class Estimators(NamedTuple):
    """The estimates and running sums of all arrays, in the order of Rust's numbers."""

    gradients_seen: Any
    alpha: Any
    momentum_knee: Any
    limit: Any
    beyond_knee: Any
    gradients: LogSums
    momentum: LogSums
    noise: NoiseSums
    #: Version of the format, and the size of the array modulo 2²⁴ and divided by 2²⁴.
    version: Any
    size_low: Any
    size_high: Any

    @property
    def is_sgd(self) -> jax.Array:
        """Where there is no knee, so that the step is that of SGD."""
        return jnp.equal(self.alpha, 2) | jnp.isinf(self.momentum_knee)

    @property
    def limit_in_use(self) -> jax.Array:
        """The largest component of a gradient that enters the momentum."""
        return jnp.where(self.alpha == 2, jnp.inf, self.limit)


_SUMS = LogSums(0, 0, 0, 0)
_STRUCTURE = jax.tree.structure(
    Estimators(0, 0, 0, 0, 0, _SUMS, _SUMS, NoiseSums(0, 0, 0, 0, 0), 0, 0, 0)
)


class CalibrationState(NamedTuple):
    """The running state of all arrays of a tree."""

    #: `Estimators`, a column for each array.
    numbers: jax.Array
    #: The sampled coordinates of the previous gradient, a row for each array.
    previous: jax.Array
    #: The difference of the first pair of a quadruple.
    pair: jax.Array

    @property
    def estimators(self) -> Estimators:
        """The numbers by name."""
        found: Estimators = jax.tree.unflatten(_STRUCTURE, list(jnp.moveaxis(self.numbers, -2, 0)))
        return found


class Calibration(NamedTuple):
    """The estimates for a parameter."""

    #: Tail index and scale of the gradient noise: NaN before the fourth gradient.
    noise_alpha: jax.Array
    noise_scale: jax.Array
    #: The tail index in use; at 2 the step is that of SGD.
    alpha: jax.Array
    #: The knee κ/√lr, in units of the momentum buffer.
    momentum_knee: jax.Array
    #: The largest component of a gradient that enters the momentum.
    limit: jax.Array
    #: Share of the coordinates beyond the knee, averaged over the last steps.
    beyond_knee: jax.Array


def start(sizes: Sequence[int]) -> CalibrationState:
    """Return the state of arrays of these sizes before the first gradient."""
    nothing = np.zeros((len(sizes), max(map(count, sizes), default=0)), np.float32)
    numbers = np.zeros((ESTIMATORS, len(sizes)), np.float32)
    for column, size in enumerate(sizes):
        numbers[:, column] = _native.calibration_start(size)[:ESTIMATORS]
    return CalibrationState(jnp.asarray(numbers), jnp.asarray(nothing), jnp.asarray(nothing))


def check(state: CalibrationState, sizes: Sequence[int | None]) -> None:
    """Raise an error if a state is not one of this version for arrays of these sizes.

    None stands for an array without a gradient. Shapes are always checked; the version and the
    sizes only if the state is not traced.
    """
    columns = len(sizes)
    width = max((count(size) for size in sizes if size is not None), default=0)
    if state.numbers.shape[-2:] != (ESTIMATORS, columns) or state.previous.shape[-1] < width:
        raise ValueError(
            f"the calibration state has {state.numbers.shape[-2]} numbers and "
            f"{state.previous.shape[-1]} sampled coordinates for each of {state.numbers.shape[-1]} "
            f"parameters, expected {ESTIMATORS} and {width} for {columns}: it is that of other "
            "parameters or of another version; begin with a new state"
        )
    traced = isinstance(state.numbers, jax.core.Tracer)
    if not columns or traced or not jnp.asarray(state.numbers).is_fully_addressable:
        return
    found = np.asarray(state.numbers, np.float32).reshape(-1, ESTIMATORS, columns)
    for column, size in enumerate(sizes):
        for numbers in found[:, :, column]:
            length = _native.calibration_length(np.ascontiguousarray(numbers))
            if size is not None and length != size:
                raise ValueError(
                    f"the calibration state of parameter {column} is that of an array of size "
                    f"{length}, got one of size {size}; begin with a new state"
                )


@functools.partial(jax.jit, static_argnames="limited")
def update_limits(
    state: CalibrationState,
    gradient: jax.Array,
    counts: NDArray[Any],
    alpha: Number | None,
    *,
    limited: bool,
) -> CalibrationState:
    """Update the sums of the noise and of the gradients, and the limit of their components."""
    found, phase = state.estimators, state.estimators.gradients_seen % 4
    difference = state.previous - gradient
    pair = jnp.where((phase == 1)[:, None], difference, state.pair)
    previous = jnp.where((phase == 3)[:, None], difference, gradient)
    noise = _if(phase == 3, _noise_sums(found.noise, pair, difference, counts), found.noise)
    gradients = _log_sums(found.gradients, gradient, *_sampled_now(found, counts, gradient))
    found = found._replace(
        gradients_seen=_turned(found, 1),
        noise=noise,
        gradients=gradients,
        limit=_limit(
            gradients, found.alpha if alpha is None else alpha, _trust(noise, found.momentum)
        )
        if limited
        else jnp.full_like(found.limit, jnp.inf),
    )
    return CalibrationState(_packed(found), previous, pair)


@jax.jit
def settle(
    state: CalibrationState,
    followed: jax.Array,
    counts: NDArray[Any],
    alpha: Number | None,
    noise_scale: Number | None,
    memory: Number,
) -> CalibrationState:
    """Update the sums of the argument of the field, and set alpha and the knee."""
    found = state.estimators
    # The gradient of this step is counted already.
    before = found._replace(gradients_seen=_turned(found, -1))
    sampled, number = _sampled_now(before, counts, followed)
    momentum = _log_sums(found.momentum, followed, sampled, number)
    used = _alpha(found.noise, momentum) if alpha is None else jnp.full_like(found.alpha, alpha)
    if noise_scale is None:
        trust = _trust(found.noise, momentum)
        momentum_knee = _momentum_knee(momentum, used, trust, found.limit_in_use, memory)
    else:
        momentum_knee = jnp.asarray(noise_scale, np.float32) * jnp.asarray(memory, np.float32) ** (
            -1 / used
        )
    beyond = sampled & (jnp.abs(followed) > momentum_knee[:, None])
    share = jnp.sum(beyond, axis=1).astype(np.float32) / number
    slowly = jnp.clip(found.gradients_seen, 1, CONSTANTS.steps)
    # A quarter of fewer than four positions may be empty.
    some = jnp.any(sampled, axis=1)
    old = found.beyond_knee
    beyond_knee = jnp.where(some, old + (share - old) / slowly, old)
    found = found._replace(
        momentum=momentum, alpha=used, momentum_knee=momentum_knee, beyond_knee=beyond_knee
    )
    return state._replace(numbers=_packed(found))


def estimates(state: CalibrationState) -> Calibration:
    """Return the present estimates, in arrays with a number for each array of the tree."""
    found = state.estimators
    noise, seen = found.noise, found.noise.seen > 0
    growth = jnp.maximum(noise.growth / noise.weight, LN_2 / 2)
    mean = noise.log / jnp.where(seen, noise.seen, 1)
    scale = jnp.exp(_log_scale(mean - growth, LN_2 / growth))
    return Calibration(
        noise_alpha=LN_2 / growth,
        noise_scale=jnp.where(seen, scale, jnp.nan),
        alpha=found.alpha,
        momentum_knee=found.momentum_knee,
        limit=found.limit_in_use,
        beyond_knee=jnp.where(found.alpha == 2, 0, found.beyond_knee),
    )


def _packed(found: Estimators) -> jax.Array:
    return jnp.stack(jax.tree.leaves(found))


def _if(condition: jax.Array, new: Any, old: Any) -> Any:  # noqa: ANN401
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), new, old)


def _counts(x: jax.Array) -> jax.Array:
    """Return whether a number has a finite logarithm: not so zeros, NaN and infinity."""
    limits, size = np.finfo(np.float32), jnp.abs(x)
    return (size >= limits.tiny) & (size <= limits.max)


def _logs(x: jax.Array, counts: jax.Array) -> jax.Array:
    return jnp.log(jnp.abs(jnp.where(counts, x, 1)))


def _turned(found: Estimators, by: int) -> jax.Array:
    turned: jax.Array = (found.gradients_seen + by) % CONSTANTS.counted
    return turned


def _sampled_now(
    found: Estimators, counts: NDArray[Any], x: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return which positions the next step uses for its sums, and how many these are.

    All at first, later a quarter: a different one for each gradient of a quadruple.
    """
    first, phase = found.gradients_seen < CONSTANTS.steps, found.gradients_seen % 4
    start = jnp.where(first, 0, jnp.floor(counts * phase / 4))[:, None]
    end = jnp.where(first, counts, jnp.floor(counts * (phase + 1) / 4))[:, None]
    place = np.arange(x.shape[1], dtype=np.float32)
    return (start <= place) & (place < end), jnp.maximum(end - start, 1)[:, 0]


def _log_sums(old: LogSums, x: jax.Array, sampled: jax.Array, counts: jax.Array) -> LogSums:
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
    updated: LogSums = _if(seen.weight > 0, new, old)
    return updated


def _noise_sums(
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
    updated: NoiseSums = _if(number_of_both > 0, new, old)
    return updated


def _shared(first: jax.Array, mean: jax.Array) -> jax.Array:
    """Return the mean covariance of the logarithms of neighbours in a row."""
    there = _counts(first)
    off = jnp.where(there, _logs(first, there) - mean[:, None], 0)
    ends = (np.arange(first.shape[1] - 1) + 1) % int(CONSTANTS.row) == 0
    pairs = there[:, 1:] & there[:, :-1] & ~ends
    number = jnp.sum(pairs, axis=1)
    return jnp.sum(jnp.where(pairs, off[:, 1:] * off[:, :-1], 0), axis=1) / jnp.maximum(number, 1)


def _log_scale(mean: jax.Array, alpha: jax.Array) -> jax.Array:
    """Return log σ = E log|X| - C(1/α - 1)."""
    return mean - np.euler_gamma * (1 / alpha - 1)


def _spread(sums: LogSums, alpha: jax.Array) -> jax.Array:
    """Return τ = √(V - (π²/6)(1/α² + 1/2)), 0 where that is negative."""
    weight = jnp.where(sums.weight > 0, sums.weight, 1)
    variance = sums.squares / weight - (sums.sum / weight) ** 2
    return jnp.sqrt(jnp.maximum(variance - math.pi**2 / 6 * (1 / alpha**2 + 0.5), 0))


def _alpha(noise: NoiseSums, momentum: LogSums) -> jax.Array:
    """Return the tail index to use: that of the noise as far as it explains the momentum."""
    at = CONSTANTS
    growth = noise.growth / noise.weight
    gaussian = growth < LN_2 / at.gaussian
    raw = LN_2 / jnp.where(gaussian, 1, growth)
    alpha = jnp.maximum(raw, at.min_alpha)
    trusted = at.initial_alpha + (alpha - at.initial_alpha) * _trust(noise, momentum)
    alpha = jnp.where(alpha < at.initial_alpha, trusted, alpha)
    return jnp.where(gaussian, 2, jnp.floor(alpha / at.grid + 0.5) * at.grid)


def _trust(noise: NoiseSums, momentum: LogSums) -> jax.Array:
    """Return how far stable noise explains the momentum, from 0 to 1."""
    at = CONSTANTS
    # No stable law grows less than the Gaussian.
    raw = LN_2 / jnp.maximum(noise.growth / noise.weight, LN_2 / 2)
    spread = _spread(momentum, jnp.clip(raw, at.min_alpha, 2))
    shared = jnp.maximum(noise.shared / jnp.where(noise.seen > 0, noise.seen, 1), 0)
    trust = jnp.clip((raw - at.no_noise) / (at.noise - at.no_noise), 0, 1)
    return trust / (1 + spread**2 + at.shared * shared)


def _momentum_knee(
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


def _limit(gradients: LogSums, alpha: Number, trust: jax.Array) -> jax.Array:
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
    noise = _log_scale(sums.sum / weight, alpha) + beyond
    signal = roots + sums.root / weight
    place = jnp.exp(noise + (1 - trust) * jnp.maximum(signal - noise, 0))
    return jnp.where(
        sums.weight > 0, jnp.clip(place, CONSTANTS.smallest, CONSTANTS.largest), jnp.inf
    )
