"""`guard`: clips gradients to their own typical size, before any optimizer of optax."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import ArrayLike

from fuld import _native
from fuld.optax._field import Number
from fuld.optax._settings import setting

_CONSTANTS = _native.guard_constants()
#: c for optimizers whose step is proportional to the gradient.
CLIP_FOR_SGD = _CONSTANTS["clip_for_sgd"]
#: c for optimizers that divide by the gradient's size.
CLIP_FOR_ADAM = _CONSTANTS["clip_for_adam"]
#: r, the factor from which on an array is a burst.
_BURST = _CONSTANTS["burst"]
#: w, the weight of a step in the usual size.
_WEIGHT = _CONSTANTS["weight"]
#: Largest number of components sampled per array.
_SAMPLE = int(_CONSTANTS["sample"])


class GuardState(NamedTuple):
    """The state of `guard`: three numbers for each array.

    They are the version of the format, the number of steps up to 50, and the logarithm of the usual
    size of a component.
    """

    numbers: Any


def guard(clip: ArrayLike = CLIP_FOR_ADAM) -> optax.GradientTransformation:
    """Guard an optimizer against heavy-tailed noise, bursts and corrupted gradients.

    For each array the guard keeps the running mean of log|g|. Before a step, an array that is more
    than 4 times its usual size is scaled back to 4 times it; components beyond `clip` times the
    geometric mean of the usual magnitudes are clipped; and NaN becomes 0. The first gradients are
    measured and set to 0: nothing shows yet whether they are a burst.

    Parameters
    ----------
    clip : float, optional
        Multiple of the geometric mean of the magnitudes at which components are clipped. 30, the
        default, is for Adam and its relatives; take 1 for SGD and `fuld`. ``jnp.inf`` clips
        nothing but bursts, infinities and NaN.

    Returns
    -------
    optax.GradientTransformation
        To be chained before any other.

    Notes
    -----
    The rule is that of `fuld.torch.guard`. The magnitudes of at most 4096 components per array are
    used. Derivatives through a step treat the guard's decision as constant. Within `jax.shard_map`
    every device guards its own part; sharded arrays under `jax.jit` are guarded as a whole.

    Examples
    --------
    >>> import jax.numpy as jnp, optax
    >>> from fuld.optax import guard
    >>> optimizer = optax.chain(guard(), optax.adamw(1e-3))
    >>> params = {"w": jnp.ones(3)}
    >>> state = optimizer.init(params)
    >>> good, bad = {"w": jnp.array([0.1, 0.2, 0.4])}, {"w": jnp.array([0.1, jnp.nan, jnp.inf])}
    >>> for gradients in (good, bad):
    ...     updates, state = optimizer.update(gradients, state, params)
    >>> bool(jnp.isfinite(updates["w"]).all())
    True
    """
    bound = setting("clip", clip, lambda c: c > 0, "be positive")

    def init(params: optax.Params) -> GuardState:
        return GuardState(jax.tree.map(_new_state, params))

    def update(
        updates: optax.Updates, state: GuardState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, GuardState]:
        del params
        pairs = jax.tree.map(lambda g, s: _guarded(g, s, bound), updates, state.numbers)

        def each(field: str) -> Any:  # noqa: ANN401
            return jax.tree.map(
                lambda pair: getattr(pair, field), pairs, is_leaf=lambda x: isinstance(x, _Guarded)
            )

        return each("gradient"), GuardState(each("numbers"))

    return optax.GradientTransformation(init, update)


def _new_state(param: Any) -> jax.Array:  # noqa: ANN401
    # Within `jax.shard_map` the state differs between devices where the parameter does.
    zero = jnp.zeros_like(param, np.float32, shape=())
    return jnp.array([_CONSTANTS["version"], 0.0, 0.0], np.float32) + zero


class _Guarded(NamedTuple):
    gradient: jax.Array
    numbers: jax.Array


def _guarded(gradient: jax.Array, numbers: jax.Array, clip: Number) -> _Guarded:
    """Return a gradient after the guard, and the state of its array."""
    gradient = jnp.asarray(gradient)
    if jnp.issubdtype(gradient.dtype, jnp.complexfloating):
        parts = jnp.stack([gradient.real, gradient.imag], axis=-1)
        parts, numbers = _guarded(parts, numbers, clip)
        return _Guarded(jax.lax.complex(parts[..., 0], parts[..., 1]), numbers)
    dtype = np.dtype(np.float64 if gradient.dtype == np.float64 else np.float32)
    mean, seen = _log_mean(jax.lax.stop_gradient(gradient).astype(dtype))
    numbers, factor, limit = _decide(numbers, mean.astype(np.float32), seen, clip)
    limit = limit.astype(gradient.dtype).astype(dtype)
    scaled = gradient.astype(dtype) * factor.astype(dtype)
    clipped = jnp.where(jnp.isnan(scaled), 0, jnp.clip(scaled, -limit, limit))
    # Only an infinite limit leaves infinities.
    return _Guarded(jnp.where(jnp.isfinite(clipped), clipped, 0).astype(gradient.dtype), numbers)


def _log_mean(gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the mean of log|g| over the sampled components that count, and whether any does."""
    size = jnp.abs(_sampled(gradient))
    info = np.finfo(size.dtype)
    counts = (size >= info.tiny) & (size <= info.max)
    total = jnp.sum(jnp.log(jnp.where(counts, size, 1)))
    count = jnp.sum(counts)
    return total / jnp.maximum(count, 1), count > 0


def _decide(
    numbers: jax.Array, mean: jax.Array, seen: jax.Array, clip: Number
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the state after a gradient with this mean of log|g|, a factor and a limit for it.

    This is `fuld::guard::Guard::observe`, in single precision.
    """
    version, steps, log_scale = numbers[0], numbers[1], numbers[2]
    smaller = jnp.where(steps == 1, jnp.minimum(log_scale, mean), log_scale)
    before = jnp.where(steps == 0, mean, smaller)
    deviation = jnp.where(seen, mean - before, 0)
    counted = jnp.minimum(steps + 1, round(1 / _WEIGHT))
    step = jnp.maximum(1 / counted, _WEIGHT) * jnp.clip(
        deviation, -math.log(_BURST), math.log(_BURST)
    )
    after = jnp.where(seen, jnp.stack([version, counted, before + step]), numbers)
    factor = jnp.minimum(_BURST * jnp.exp(-deviation), 1)
    limit = jnp.where(steps == 0, jnp.where(seen, 0, jnp.inf), clip * jnp.exp(after[2]))
    return after, factor, limit


def _sampled(array: jax.Array) -> jax.Array:
    """Return the components that the statistic uses: all, or those at fixed positions."""
    if array.size <= _SAMPLE:
        return array
    sharding = jax.typeof(array).sharding
    sampled: jax.Array = array.at[_positions(array.shape)].get(
        mode="promise_in_bounds",
        # In a mesh with explicit axes indexing requires the sharding of its result.
        out_sharding=sharding.update(spec=()) if sharding.mesh.explicit_axes else None,
    )
    return sampled


@functools.lru_cache(maxsize=1024)
def _positions(shape: tuple[int, ...]) -> tuple[np.typing.NDArray[np.int32], ...]:
    """Return the sampled positions, as one array of indices for each axis.

    Indices per axis work for arrays that are sharded, and 32 bits suffice for sides up to 2³¹.
    """
    flat = _native.guard_positions(math.prod(shape))
    return tuple(axis.astype(np.int32) for axis in np.unravel_index(flat, shape))
