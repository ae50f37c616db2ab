"""Estimates of alpha, the knee and the limit from successive gradients: `Calibration` in JAX.

`fuld::optimizer` documents the estimators. The formulas are repeated here because Rust cannot
compute with traced values; a test compares the two. Here all arrays of a tree are treated at once:
one row for each, padded with zeros, which have no logarithm and are ignored.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld.optax import _estimates
from fuld.optax._constants import CONSTANTS, ESTIMATORS
from fuld.optax._field import Number
from fuld.optax._sampled_positions import count
from fuld.optax._sums import LogSums, NoiseSums, add_logs, add_quadruple, select


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
    noise = select(phase == 3, add_quadruple(found.noise, pair, difference, counts), found.noise)
    gradients = add_logs(found.gradients, gradient, *_sampled_now(found, counts, gradient))
    found = found._replace(
        gradients_seen=_turned(found, 1),
        noise=noise,
        gradients=gradients,
        limit=_estimates.limit(
            gradients,
            found.alpha if alpha is None else alpha,
            _estimates.trust(noise, found.momentum),
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
    momentum = add_logs(found.momentum, followed, sampled, number)
    used = (
        _estimates.alpha_in_use(found.noise, momentum)
        if alpha is None
        else jnp.full_like(found.alpha, alpha)
    )
    if noise_scale is None:
        trust = _estimates.trust(found.noise, momentum)
        momentum_knee = _estimates.momentum_knee(momentum, used, trust, found.limit_in_use, memory)
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
    growth = jnp.maximum(noise.growth / noise.weight, _estimates.LN_2 / 2)
    mean = noise.log / jnp.where(seen, noise.seen, 1)
    scale = jnp.exp(_estimates.log_scale(mean - growth, _estimates.LN_2 / growth))
    return Calibration(
        noise_alpha=_estimates.LN_2 / growth,
        noise_scale=jnp.where(seen, scale, jnp.nan),
        alpha=found.alpha,
        momentum_knee=found.momentum_knee,
        limit=found.limit_in_use,
        beyond_knee=jnp.where(found.alpha == 2, 0, found.beyond_knee),
    )


def _packed(found: Estimators) -> jax.Array:
    return jnp.stack(jax.tree.leaves(found))


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
