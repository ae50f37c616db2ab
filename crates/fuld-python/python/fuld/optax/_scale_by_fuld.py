"""The transformation: momentum, and a step that goes through the field."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import ArrayLike, DTypeLike

from fuld import _native
from fuld._arguments import flag
from fuld.optax._field import Number, evaluate, field
from fuld.optax._settings import (
    alpha_setting,
    form_setting,
    momentum_setting,
    not_negative,
    positive,
)


def scale_by_fuld(
    momentum: ArrayLike | None = 0.9,
    alpha: ArrayLike = 1.75,
    scale: ArrayLike = 1.0,
    *,
    form: str = "matched",
    learning_rate: optax.ScalarOrSchedule | None = None,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Turn gradients into the direction d of a step x ← x - learning_rate · d.

    It is the heart of `fuld`, for those who build a chain themselves: let
    `optax.scale_by_learning_rate` come after it. Its state is that of `optax.trace`.

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
    form, nesterov = form_setting(form), flag("nesterov", nesterov)
    momentum = momentum_setting(momentum, form, nesterov)
    alpha, scale = alpha_setting(alpha), positive("scale", scale)
    if isinstance(alpha, float) and isinstance(scale, float) and alpha != 2:
        memory = momentum if isinstance(momentum, float) else 0.0
        # Raises an error if single precision has no room for such a scale.
        _native.step_factors(form, alpha, memory, scale)
    if accumulator_dtype is not None and not jnp.issubdtype(accumulator_dtype, jnp.floating):
        raise ValueError(
            f"accumulator_dtype must be a type of real numbers, got {accumulator_dtype}"
        )
    accumulate = _accumulate(momentum, nesterov, accumulator_dtype)
    if form == "matched":
        if learning_rate is not None:
            raise ValueError(
                "the matched form does not depend on the learning rate: leave learning_rate out, "
                "and let optax.scale_by_learning_rate come after"
            )
        return _then(accumulate, lambda b: _matched(b, momentum, alpha, scale))
    if learning_rate is None:
        raise ValueError(
            "the direction of form='paper' depends on the learning rate: give learning_rate here, "
            "and the same to optax.scale_by_learning_rate after it"
        )
    if callable(learning_rate):
        return _scheduled(accumulate, learning_rate, lambda b, rate: _paper(b, rate, alpha, scale))
    rate = not_negative("learning_rate", learning_rate)
    return _then(accumulate, lambda b: _paper(b, rate, alpha, scale))


def _accumulate(
    momentum: Number | None, nesterov: bool, dtype: DTypeLike | None
) -> optax.GradientTransformation:
    """Return b ← μb + g as SGD has it, real, and of types that do not change from step to step."""
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
            # A traced momentum has a type of its own, which it would give to all others.
            b = jax.tree.map(_as_real, b, updates) if dtype is None else b
            new = jax.tree.map(_as_real, new, state)
        return b, new

    return optax.GradientTransformation(init, update)


def _as_real(new: jax.Array, old: jax.Array) -> jax.Array:
    """Give a number the type it had, except that whole numbers become real."""
    dtype = jnp.result_type(old)
    return new.astype(dtype) if jnp.issubdtype(dtype, jnp.floating) else new


def _refuse_complex(tree: optax.Params) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating):
            name = jax.tree_util.keystr(path) or "the parameter"
            raise TypeError(
                f"{name} is {jnp.result_type(leaf)}, and the field is one of real numbers: "
                "wrap the optimizer in optax.contrib.split_real_and_imaginary"
            )


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


def _matched(
    b: optax.Updates, momentum: Number | None, alpha: Number, scale: Number
) -> optax.Updates:
    """K/slope · ∇G_α(b/K): slope 1 at 0, and a bend where noise of the given scale puts b.

    The factors are those of `fuld::optimizer` in Rust; they stand here again because Rust cannot
    compute with what is traced.
    """
    memory = 1.0 if momentum is None else 1 - momentum

    def step(b: jax.Array, to: Callable[[Number], Number]) -> jax.Array:
        bend = to(scale) * to(memory) ** (-1 / to(alpha))
        table = field(alpha, np.dtype(b.dtype))
        direction: jax.Array = bend / table.slope * evaluate(table, b / bend)
        return direction

    return _through(b, alpha, step)


def _paper(b: optax.Updates, rate: Number, alpha: Number, scale: Number) -> optax.Updates:
    """κ^(α-1)/√lr · ∇G_α(√lr b/κ), which times lr is the paper's step."""

    def step(b: jax.Array, to: Callable[[Number], Number]) -> jax.Array:
        # At learning rate 0 the step is 0 whatever its direction.
        root = jnp.sqrt(jnp.where(rate > 0, to(rate), 1)).astype(b.dtype)
        table = field(alpha, np.dtype(b.dtype))
        height = to(scale) ** (to(alpha) - 1)
        direction: jax.Array = height / root * evaluate(table, b * root / to(scale))
        return direction

    return _through(b, alpha, step)


def _through(
    b: optax.Updates,
    alpha: Number,
    step: Callable[[jax.Array, Callable[[Number], Number]], jax.Array],
) -> optax.Updates:
    """Take a step with every leaf, in single precision at least. At alpha = 2 it is b itself.

    Where b is infinite the field is 0, and a parameter would stand still for ever, unseen: NaN.
    """
    if isinstance(alpha, float) and alpha == 2:
        return b

    def leaf(b: jax.Array) -> jax.Array:
        b = jnp.asarray(b)
        dtype = b.dtype if jnp.issubdtype(b.dtype, jnp.floating) else jnp.result_type(float)
        working = np.dtype(np.float64 if dtype == np.float64 else np.float32)

        def to(x: Number) -> Number:
            return x.astype(working) if isinstance(x, jax.Array) else x

        direction = jnp.where(jnp.isinf(b), jnp.nan, step(b.astype(working), to))
        return jnp.where(jnp.equal(alpha, 2), b, direction.astype(dtype))

    return jax.tree.map(leaf, b)
