"""`scale_by_fuld`: the gradient transformation with momentum and field, without learning rate."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import optax
from jax.typing import ArrayLike, DTypeLike

from fuld import _native
from fuld._arguments import flag
from fuld.optax._direction import matched, paper
from fuld.optax._field import Number
from fuld.optax._momentum import accumulate
from fuld.optax._settings import (
    alpha_setting,
    form_setting,
    knee_setting,
    momentum_setting,
    not_negative,
)


def scale_by_fuld(
    momentum: ArrayLike | None = 0.9,
    alpha: ArrayLike = 1.75,
    noise_scale: ArrayLike | None = None,
    *,
    form: str = "matched",
    beta: ArrayLike | None = None,
    learning_rate: optax.ScalarOrSchedule | None = None,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Turn gradients into the direction d of a step x ← x - learning_rate · d.

    This is `fuld` without the learning rate, for chains that end with
    `optax.scale_by_learning_rate`. Its state is that of `optax.trace`.

    Parameters
    ----------
    momentum, alpha, noise_scale, form, beta, nesterov, accumulator_dtype
        As for `fuld`.
    learning_rate : float or schedule, optional
        Only for ``form="paper"``, whose direction depends on it: the one that the rest of the chain
        uses. The matched form does not depend on it.

    Returns
    -------
    optax.GradientTransformationExtraArgs

    Examples
    --------
    A guard before, a schedule after:

    >>> import optax
    >>> from fuld.optax import guard, scale_by_fuld
    >>> optimizer = optax.chain(
    ...     guard(clip=10.0),
    ...     scale_by_fuld(momentum=0.9, alpha=1.5, noise_scale=0.1),
    ...     optax.scale_by_learning_rate(optax.cosine_decay_schedule(0.1, 1000)),
    ... )
    >>> state = optimizer.init({"w": 1.0})
    """
    form, nesterov = form_setting(form), flag("nesterov", nesterov)
    memory = momentum_setting(momentum, form, nesterov)
    tail_index = alpha_setting(alpha)
    knee = knee_setting(form, noise_scale, beta)
    if isinstance(tail_index, float) and isinstance(knee, float) and tail_index != 2:
        # Raises an error if the knee is outside the range of single precision.
        _native.step_factors(
            tail_index,
            memory if isinstance(memory, float) else 0.0,
            noise_scale=knee if form == "matched" else None,
            beta=knee if form == "paper" else None,
        )
    if accumulator_dtype is not None and not jnp.issubdtype(accumulator_dtype, jnp.floating):
        raise ValueError(
            f"accumulator_dtype must be a type of real numbers, got {accumulator_dtype}"
        )
    if form == "matched":
        if learning_rate is not None:
            raise ValueError(
                "learning_rate requires form='paper': leave it out, and append "
                "optax.scale_by_learning_rate to the chain"
            )
        buffer = accumulate(memory, nesterov, accumulator_dtype)
        return _then(buffer, lambda b: matched(b, memory, tail_index, knee))
    if learning_rate is None:
        raise ValueError(
            "form='paper' requires learning_rate, with the value that optax.scale_by_learning_rate "
            "has in the rest of the chain"
        )
    buffer = accumulate(memory, nesterov, accumulator_dtype)
    kappa = knee ** (-1 / tail_index)
    if callable(learning_rate):
        return _scheduled(buffer, learning_rate, lambda b, rate: paper(b, rate, tail_index, kappa))
    rate = not_negative("learning_rate", learning_rate)
    return _then(buffer, lambda b: paper(b, rate, tail_index, kappa))


def _then(
    first: optax.GradientTransformation, change: Callable[[optax.Updates], optax.Updates]
) -> optax.GradientTransformationExtraArgs:
    """Return a transformation followed by a function of its updates; the state is unchanged."""

    def update(
        updates: optax.Updates,
        state: optax.OptState,
        params: optax.Params | None = None,
        **extra: object,
    ) -> tuple[optax.Updates, optax.OptState]:
        del extra
        b, state = first.update(updates, state, params)
        return change(b), state

    return optax.GradientTransformationExtraArgs(first.init, update)


def _scheduled(
    first: optax.GradientTransformation,
    schedule: optax.Schedule,
    change: Callable[[optax.Updates, Number], optax.Updates],
) -> optax.GradientTransformationExtraArgs:
    """Return a transformation followed by a function of its updates and of a schedule."""

    def init(params: optax.Params) -> optax.ScaleByScheduleState:
        del params
        return optax.ScaleByScheduleState(count=jnp.zeros([], jnp.int32))

    def update(
        updates: optax.Updates,
        state: optax.ScaleByScheduleState,
        params: optax.Params | None = None,
    ) -> tuple[optax.Updates, optax.ScaleByScheduleState]:
        del params
        count = optax.safe_increment(state.count)
        return change(updates, schedule(state.count)), optax.ScaleByScheduleState(count)

    return optax.chain(first, optax.GradientTransformation(init, update))
