"""Alpha and the place of the bend from the gradients as they come: `Calibration` of Rust, in JAX.

What is estimated, and why so, is written in `fuld::optimizer`. The formulas stand here again
because Rust cannot compute with what is traced; a test compares the two. Here all arrays of a tree
are treated at once: a row for each, filled up with zeros, which have no logarithm and do not count.
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
from fuld.optax._constants import CONSTANTS, HEAD
from fuld.optax._field import Number
from fuld.optax._places import count

LN_2 = math.log(2)


class LogSums(NamedTuple):
    """Number, sum and sum of squares of log|x|, over the last steps."""

    weight: Any
    sum: Any
    squares: Any
    #: Of the logarithm of the root mean square.
    root: Any


class NoiseSums(NamedTuple):
    """What differences of gradients, and differences of those, say of the noise."""

    weight: Any
    growth: Any
    seen: Any
    log: Any
    #: Of the covariance of log|difference| between neighbours.
    shared: Any


class Head(NamedTuple):
    """What is known beside the gradients of a quadruple, in the order of Rust's numbers."""

    gradients_seen: Any
    alpha: Any
    bend: Any
    limit: Any
    bent: Any
    gradients: LogSums
    momentum: LogSums
    noise: NoiseSums
    #: Version of the format, and the size of the array modulo 2²⁴ and divided by 2²⁴.
    version: Any
    size_low: Any
    size_high: Any

    @property
    def plain(self) -> jax.Array:
        """Where the step is that of SGD."""
        return jnp.equal(self.alpha, 2) | jnp.isinf(self.bend)

    @property
    def limit_in_use(self) -> jax.Array:
        """The largest component of a gradient that enters the momentum."""
        return jnp.where(self.alpha == 2, jnp.inf, self.limit)


_SUMS = LogSums(0, 0, 0, 0)
_HEAD = jax.tree.structure(Head(0, 0, 0, 0, 0, _SUMS, _SUMS, NoiseSums(0, 0, 0, 0, 0), 0, 0, 0))


class Known(NamedTuple):
    """What is known of all arrays of a tree."""

    #: Heads, a column for each array.
    heads: jax.Array
    #: The gradient before this one at the places looked at, a row for each array.
    before: jax.Array
    #: The difference of the first pair of a quadruple.
    pair: jax.Array

    @property
    def head(self) -> Head:
        """The heads, their numbers by name."""
        head: Head = jax.tree.unflatten(_HEAD, list(jnp.moveaxis(self.heads, -2, 0)))
        return head


class Reading(NamedTuple):
    """What the calibration of a parameter says."""

    #: Tail index of the gradients' noise, and its scale: NaN before there were four gradients.
    noise_alpha: jax.Array
    noise_scale: jax.Array
    #: The tail index in use; at 2 the step is that of SGD.
    alpha: jax.Array
    #: Where the momentum bends.
    bend: jax.Array
    #: The largest component of a gradient that enters the momentum.
    limit: jax.Array
    #: Share of the coordinates that were beyond the bend, on average over the last steps.
    bent: jax.Array


def start(sizes: Sequence[int]) -> Known:
    """Return what is known of arrays of these sizes before there was a gradient."""
    nothing = np.zeros((len(sizes), max(map(count, sizes), default=0)), np.float32)
    heads = np.zeros((HEAD, len(sizes)), np.float32)
    for column, size in enumerate(sizes):
        heads[:, column] = _native.calibration_start(size)[:HEAD]
    return Known(jnp.asarray(heads), jnp.asarray(nothing), jnp.asarray(nothing))


@functools.partial(jax.jit, static_argnames="limited")
def look(
    known: Known, gradient: jax.Array, counts: NDArray[Any], alpha: Number | None, *, limited: bool
) -> Known:
    """Take note of gradients, and set the limit of their components."""
    head, phase = known.head, known.head.gradients_seen % 4
    difference = known.before - gradient
    pair = jnp.where((phase == 1)[:, None], difference, known.pair)
    before = jnp.where((phase == 3)[:, None], difference, gradient)
    noise = _if(phase == 3, _noise_sums(head.noise, pair, difference, counts), head.noise)
    gradients = _log_sums(head.gradients, gradient, *_looked_at(head, counts, gradient))
    head = head._replace(
        gradients_seen=_turned(head, 1),
        noise=noise,
        gradients=gradients,
        limit=_limit(
            gradients, head.alpha if alpha is None else alpha, _trust(noise, head.momentum)
        )
        if limited
        else jnp.full_like(head.limit, jnp.inf),
    )
    return Known(_packed(head), before, pair)


@jax.jit
def settle(
    known: Known,
    followed: jax.Array,
    counts: NDArray[Any],
    alpha: Number | None,
    scale: Number | None,
    memory: Number,
) -> Known:
    """Take note of what the field will be taken of, and set alpha and the bend."""
    head = known.head
    # The gradient of this step was counted already.
    before = head._replace(gradients_seen=_turned(head, -1))
    looked_at, number = _looked_at(before, counts, followed)
    momentum = _log_sums(head.momentum, followed, looked_at, number)
    used = _alpha(head.noise, momentum) if alpha is None else jnp.full_like(head.alpha, alpha)
    if scale is None:
        trust = _trust(head.noise, momentum)
        bend = _bend(momentum, used, trust, head.limit_in_use, memory)
    else:
        bend = jnp.asarray(scale, np.float32) * jnp.asarray(memory, np.float32) ** (-1 / used)
    beyond = looked_at & (jnp.abs(followed) > bend[:, None])
    share = jnp.sum(beyond, axis=1).astype(np.float32) / number
    slowly = jnp.clip(head.gradients_seen, 1, CONSTANTS.steps)
    # A quarter of fewer than four places may be none.
    some = jnp.any(looked_at, axis=1)
    bent = jnp.where(some, head.bent + (share - head.bent) / slowly, head.bent)
    head = head._replace(momentum=momentum, alpha=used, bend=bend, bent=bent)
    return known._replace(heads=_packed(head))


def reading(known: Known) -> Reading:
    """Return what is said now, in arrays with a number for each array of the tree."""
    head = known.head
    noise, seen = head.noise, head.noise.seen > 0
    growth = jnp.maximum(noise.growth / noise.weight, LN_2 / 2)
    mean = noise.log / jnp.where(seen, noise.seen, 1)
    scale = jnp.exp(_log_scale(mean - growth, LN_2 / growth))
    return Reading(
        noise_alpha=LN_2 / growth,
        noise_scale=jnp.where(seen, scale, jnp.nan),
        alpha=head.alpha,
        bend=head.bend,
        limit=head.limit_in_use,
        bent=jnp.where(head.alpha == 2, 0, head.bent),
    )


def _packed(head: Head) -> jax.Array:
    return jnp.stack(jax.tree.leaves(head))


def _if(condition: jax.Array, new: Any, old: Any) -> Any:  # noqa: ANN401
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), new, old)


def _counts(x: jax.Array) -> jax.Array:
    """Whether a number has a logarithm to be counted: zeros, NaN and infinity have none."""
    limits, size = np.finfo(np.float32), jnp.abs(x)
    return (size >= limits.tiny) & (size <= limits.max)


def _logs(x: jax.Array, counts: jax.Array) -> jax.Array:
    return jnp.log(jnp.abs(jnp.where(counts, x, 1)))


def _turned(head: Head, by: int) -> jax.Array:
    turned: jax.Array = (head.gradients_seen + by) % CONSTANTS.counted
    return turned


def _looked_at(head: Head, counts: NDArray[Any], x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return at which places the laws of the next step are looked at, and how many these are.

    All at first, later a quarter, another for each gradient of a quadruple.
    """
    first, phase = head.gradients_seen < CONSTANTS.steps, head.gradients_seen % 4
    start = jnp.where(first, 0, jnp.floor(counts * phase / 4))[:, None]
    end = jnp.where(first, counts, jnp.floor(counts * (phase + 1) / 4))[:, None]
    place = np.arange(x.shape[1], dtype=np.float32)
    return (start <= place) & (place < end), jnp.maximum(end - start, 1)[:, 0]


def _log_sums(old: LogSums, x: jax.Array, looked_at: jax.Array, counts: jax.Array) -> LogSums:
    there = looked_at & _counts(x)
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
    """What neighbours of a row have in common: the mean covariance of their logarithms."""
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
    """τ = √(V - (π²/6)(1/α² + 1/2)), 0 where that is negative."""
    weight = jnp.where(sums.weight > 0, sums.weight, 1)
    variance = sums.squares / weight - (sums.sum / weight) ** 2
    return jnp.sqrt(jnp.maximum(variance - math.pi**2 / 6 * (1 / alpha**2 + 0.5), 0))


def _alpha(noise: NoiseSums, momentum: LogSums) -> jax.Array:
    """The tail index to use: that of the noise as far as it explains what is seen."""
    at = CONSTANTS
    growth = noise.growth / noise.weight
    gaussian = growth < LN_2 / at.gaussian
    raw = LN_2 / jnp.where(gaussian, 1, growth)
    alpha = jnp.maximum(raw, at.least)
    trusted = at.mild + (alpha - at.mild) * _trust(noise, momentum)
    alpha = jnp.where(alpha < at.mild, trusted, alpha)
    return jnp.where(gaussian, 2, jnp.floor(alpha / at.grid + 0.5) * at.grid)


def _trust(noise: NoiseSums, momentum: LogSums) -> jax.Array:
    """How far stable noise explains what is seen, from 0 to 1."""
    at = CONSTANTS
    # No stable law grows less than the Gaussian.
    raw = LN_2 / jnp.maximum(noise.growth / noise.weight, LN_2 / 2)
    spread = _spread(momentum, jnp.clip(raw, at.least, 2))
    shared = jnp.maximum(noise.shared / jnp.where(noise.seen > 0, noise.seen, 1), 0)
    trust = jnp.clip((raw - at.no_noise) / (at.noise - at.no_noise), 0, 1)
    return trust / (1 + spread**2 + at.shared * shared)


def _bend(
    momentum: LogSums, alpha: jax.Array, trust: jax.Array, limit: jax.Array, memory: Number
) -> jax.Array:
    """K = α^(1/α) s e^(1.25 τ + trust ε) of the momentum, or e^0.4 of its r.m.s."""
    # How far the momentum is ahead of what limited noise makes of it: √(1 - μ²) from 1 - μ.
    width = jnp.asarray(memory, np.float32) * (2 - jnp.asarray(memory, np.float32))
    mean = momentum.sum / jnp.where(momentum.weight > 0, momentum.weight, 1)
    short = jnp.log(limit) - 0.5 * jnp.log(width) + CONSTANTS.knee_short
    further = jnp.clip(CONSTANTS.knee_behind * (mean - short), 0, CONSTANTS.knee_limited)
    spread = CONSTANTS.knee_spread * _spread(momentum, alpha)
    beyond = jnp.log(alpha) / alpha + spread + further * trust
    return _at(momentum, alpha, beyond, CONSTANTS.knee_root, trust)


def _limit(gradients: LogSums, alpha: Number, trust: jax.Array) -> jax.Array:
    """λ s e^((3 - 1.5 trust) τ - 0.5) of the gradients, or e^3.4 of their r.m.s.

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
    """Return s e^beyond, moved out to e^roots of the r.m.s. as far as there is no trust in noise.

    It stays where single precision has room, and is infinite if nothing was seen.
    """
    weight = jnp.where(sums.weight > 0, sums.weight, 1)
    noise = _log_scale(sums.sum / weight, alpha) + beyond
    signal = roots + sums.root / weight
    place = jnp.exp(noise + (1 - trust) * jnp.maximum(signal - noise, 0))
    return jnp.where(
        sums.weight > 0, jnp.clip(place, CONSTANTS.smallest, CONSTANTS.largest), jnp.inf
    )
