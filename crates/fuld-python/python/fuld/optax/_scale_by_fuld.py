"""The transformation: momentum, and a step that goes through the field."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import optax
from jax.typing import ArrayLike, DTypeLike

from fuld import _native
from fuld._arguments import flag
from fuld.optax._calibrated import calibrated
from fuld.optax._constants import CONSTANTS
from fuld.optax._direction import matched, paper
from fuld.optax._field import Number
from fuld.optax._momentum import accumulate
from fuld.optax._settings import (
    Auto,
    alpha_setting,
    form_setting,
    is_auto,
    momentum_setting,
    not_negative,
    positive,
)


def scale_by_fuld(
    momentum: ArrayLike | None = 0.9,
    alpha: ArrayLike | Auto = 1.75,
    scale: ArrayLike | Auto = 1.0,
    *,
    form: str = "matched",
    learning_rate: optax.ScalarOrSchedule | None = None,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Turn gradients into the direction d of a step x ← x - learning_rate · d.

    It is the heart of `fuld`, for those who build a chain themselves: let
    `optax.scale_by_learning_rate` come after it. Its state is that of `optax.trace`, and has
    that as a part where something is "auto".

    Parameters
    ----------
    momentum, alpha, scale, form, nesterov, accumulator_dtype
        As for `fuld`.
    learning_rate : float or schedule, optional
        Only for ``form="paper"``, whose direction depends on it: the same that the chain goes on
        with. The matched form knows nothing of it.

    Returns
    -------
    optax.GradientTransformationExtraArgs

    Examples
    --------
    Clipping before, a schedule after:

    >>> import optax
    >>> from fuld.optax import scale_by_fuld
    >>> optimizer = optax.chain(
    ...     optax.clip_by_global_norm(10.0),
    ...     scale_by_fuld(momentum=0.9, alpha=1.5, scale=0.1),
    ...     optax.scale_by_learning_rate(optax.cosine_decay_schedule(0.1, 1000)),
    ... )
    >>> state = optimizer.init({"w": 1.0})
    """
    return transformation(
        momentum,
        alpha,
        scale,
        form=form,
        learning_rate=learning_rate,
        nesterov=nesterov,
        accumulator_dtype=accumulator_dtype,
    )


def transformation(
    momentum: ArrayLike | None,
    alpha: ArrayLike | Auto,
    scale: ArrayLike | Auto,
    *,
    form: str,
    learning_rate: optax.ScalarOrSchedule | None,
    nesterov: bool,
    accumulator_dtype: DTypeLike | None,
    decay: optax.GradientTransformation | None = None,
) -> optax.GradientTransformationExtraArgs:
    """`scale_by_fuld`, where what is calibrated may decay after gradients have been limited."""
    form, nesterov = form_setting(form), flag("nesterov", nesterov)
    memory = momentum_setting(momentum, form, nesterov)
    known_alpha = None if is_auto("alpha", alpha) else alpha_setting(alpha)
    known_scale = None if is_auto("scale", scale) else positive("scale", scale)
    some_alpha = CONSTANTS.initial_alpha if known_alpha is None else known_alpha
    if isinstance(some_alpha, float) and isinstance(known_scale, float) and some_alpha != 2:
        # Raises an error if single precision has no room for such a scale.
        _native.step_factors(
            form, some_alpha, memory if isinstance(memory, float) else 0.0, known_scale
        )
    if accumulator_dtype is not None and not jnp.issubdtype(accumulator_dtype, jnp.floating):
        raise ValueError(
            f"accumulator_dtype must be a type of real numbers, got {accumulator_dtype}"
        )
    if form == "matched":
        if learning_rate is not None:
            raise ValueError(
                "the matched form does not depend on the learning rate: leave learning_rate out, "
                "and let optax.scale_by_learning_rate come after"
            )
        if known_alpha is None or known_scale is None:
            return calibrated(
                memory,
                known_alpha,
                known_scale,
                nesterov=nesterov,
                accumulator_dtype=accumulator_dtype,
                decay=optax.identity() if decay is None else decay,
            )
        buffer = accumulate(memory, nesterov, accumulator_dtype)
        return _then(buffer, lambda b: matched(b, memory, known_alpha, known_scale))
    if known_alpha is None or known_scale is None:
        what = "alpha" if known_alpha is None else "scale"
        raise ValueError(f"{what}='auto' needs form='matched', got form='paper': give a number")
    if learning_rate is None:
        raise ValueError(
            "the direction of form='paper' depends on the learning rate: give learning_rate here, "
            "and the same to optax.scale_by_learning_rate after it"
        )
    buffer = accumulate(memory, nesterov, accumulator_dtype)
    if callable(learning_rate):
        return _scheduled(
            buffer, learning_rate, lambda b, rate: paper(b, rate, known_alpha, known_scale)
        )
    rate = not_negative("learning_rate", learning_rate)
    return _then(buffer, lambda b: paper(b, rate, known_alpha, known_scale))


def _then(
    first: optax.GradientTransformation, change: Callable[[optax.Updates], optax.Updates]
) -> optax.GradientTransformationExtraArgs:
    """Change what a transformation gives; the state stays its own."""

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
    """Change it by a number that depends on the count of steps."""

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
