"""The calibrated transformation, and the report of its estimates.

Before each step it samples the gradients, estimates the tail index, the knee and the limit of each
parameter, and then takes the step of the matched form with them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.typing import DTypeLike

from fuld.optax._calibration import (
    Calibration,
    CalibrationState,
    check,
    estimates,
    settle,
    start,
    update_limits,
)
from fuld.optax._direction import matched_at
from fuld.optax._field import Field, Number, field
from fuld.optax._momentum import accumulate
from fuld.optax._sampled_positions import count, look_up, positions


class CalibratedState(NamedTuple):
    """The state of a calibrated transformation."""

    #: The state of `optax.trace`.
    buffer: optax.OptState
    decay: optax.OptState
    calibration: CalibrationState


def calibrated(
    momentum: Number | None,
    alpha: Number | None,
    noise_scale: Number | None,
    *,
    nesterov: bool,
    accumulator_dtype: DTypeLike | None,
    decay: optax.GradientTransformation,
) -> optax.GradientTransformationExtraArgs:
    """Return the matched form with an estimated alpha, an estimated knee, or both.

    g ← g clipped to ±limit, then decay,  b ← μb + g,  d = κ/slope · ∇G_α(b/κ)
    """
    buffer = accumulate(momentum, nesterov, accumulator_dtype)
    memory = 1.0 if momentum is None else 1 - momentum

    def init(params: optax.Params) -> CalibratedState:
        calibration = start([0 if leaf is None else jnp.size(leaf) for leaf in _leaves(params)])
        varying = _varying(calibration, params)
        return CalibratedState(buffer.init(params), decay.init(params), varying)

    def update(
        updates: optax.Updates,
        state: CalibratedState,
        params: optax.Params | None = None,
        **extra: object,
    ) -> tuple[optax.Updates, CalibratedState]:
        del extra

        def followed(limits: jax.Array) -> tuple[optax.Updates, optax.OptState, optax.OptState]:
            limited = _each(_limited, updates, limits)
            pulled, decay_state = decay.update(limited, state.decay, params)
            return *buffer.update(pulled, state.buffer, params), decay_state

        new = state.calibration
        rows = new.previous.shape[0]
        if rows != len(_leaves(updates)):
            raise ValueError(
                f"the state has {rows} parameters, got {len(_leaves(updates))} gradients"
            )
        check(new, [None if leaf is None else jnp.size(leaf) for leaf in _leaves(updates)])
        if rows:
            sample = _Sample(updates, new)
            new = update_limits(
                new, sample(updates), sample.counts, alpha, limited=noise_scale is None
            )
            # XLA computes only the sample of these: the final limit follows from it.
            tried, _, _ = followed(new.estimators.limit_in_use)
            new = settle(new, sample(tried), sample.counts, alpha, noise_scale, memory)
        found = new.estimators
        b, buffer_state, decay_state = followed(
            jnp.where(found.is_sgd, jnp.inf, found.limit_in_use)
        )
        knees = jnp.where(found.is_sgd, 1, found.momentum_knee)

        @functools.cache
        def tables(dtype: np.dtype[Any]) -> Field:
            # All at once: else it would be compiled for each parameter.
            return jax.vmap(lambda alpha: field(alpha, dtype))(found.alpha)

        def direction(b: jax.Array, row: int) -> jax.Array:
            def table(dtype: np.dtype[Any]) -> Field:
                if alpha is not None:
                    return field(alpha, dtype)
                return Field(*(numbers[row] for numbers in tables(dtype)))

            used = found.alpha[row] if alpha is None else alpha
            direction = matched_at(b, used, knees[row], table)
            return jnp.where(found.is_sgd[row], b, direction)

        directions = _each(direction, b, range(rows))
        return directions, CalibratedState(buffer_state, decay_state, new)

    return optax.GradientTransformationExtraArgs(init, update)


def calibration(state: optax.OptState, params: optax.Params | None = None) -> Any:  # noqa: ANN401
    """Return the estimates of ``alpha="auto"`` and ``noise_scale="auto"``.

    Parameters
    ----------
    state : optax.OptState
        The state of `fuld`, of `scale_by_fuld`, or of a transformation that contains them.
    params : optax.Params, optional
        Parameters, or any tree of their structure. Required only with ``momentum=None``, where the
        state does not contain it.

    Returns
    -------
    tree of NamedTuple
        For each parameter `noise_alpha` and `noise_scale`, the tail index and the scale of the
        gradient noise (NaN before the fourth gradient); `alpha`, the tail index in use;
        `momentum_knee`, the knee κ/√lr, in units of the momentum buffer; `limit`, the largest
        gradient component that enters the momentum; and `beyond_knee`, the share of coordinates
        beyond the knee. None for a parameter that is not calibrated.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from fuld.optax import calibration, fuld
    >>> optimizer = fuld(0.1, alpha="auto", noise_scale="auto")
    >>> x = jnp.zeros(20_000)
    >>> state = optimizer.init(x)
    >>> for key in jax.random.split(jax.random.key(0), 100):
    ...     _, state = optimizer.update(0.1 * jax.random.cauchy(key, x.shape), state, x)
    >>> found = calibration(state)
    >>> print(f"noise of index {found.noise_alpha:.1f} and scale {found.noise_scale:.1f}")
    noise of index 1.0 and scale 0.1
    """
    states = [
        part for part in jax.tree.leaves(state, is_leaf=_is_calibrated) if _is_calibrated(part)
    ]
    if not states:
        raise ValueError(
            "state has no calibration: it must be that of a fuld "
            'with alpha="auto" or noise_scale="auto"'
        )
    trees = [_estimates_by_parameter(state, params) for state in states]

    def found(*candidates: Any) -> Calibration | None:  # noqa: ANN401
        return next((one for one in candidates if isinstance(one, Calibration)), None)

    return jax.tree.map(
        found, *trees, is_leaf=lambda x: x is None or isinstance(x, (Calibration, optax.MaskedNode))
    )


def _estimates_by_parameter(state: CalibratedState, params: optax.Params | None) -> Any:  # noqa: ANN401
    if isinstance(state.buffer, optax.TraceState):
        params = state.buffer.trace
    elif params is None:
        raise ValueError("momentum=None requires params: the state does not contain them")
    rows, leaves = state.calibration.previous.shape[-2], len(_leaves(params))
    if rows != leaves:
        raise ValueError(f"the state has {rows} parameters, got {leaves} in params")
    of_all = estimates(state.calibration)

    def one(leaf: Any, row: Any) -> Calibration | None:  # noqa: ANN401
        return None if leaf is None else Calibration(*(numbers[..., row] for numbers in of_all))

    return _each(one, params, range(rows), of_none=True)


def _is_calibrated(part: object) -> bool:
    return isinstance(part, CalibratedState)


def _leaves(tree: optax.Params) -> list[Any]:
    """Return all leaves, including None: a gradient that is None belongs to a parameter."""
    return jax.tree.leaves(tree, is_leaf=lambda leaf: leaf is None)


def _each(of: Any, tree: optax.Params, *rows: Any, of_none: bool = False) -> optax.Params:  # noqa: ANN401
    """Call a function with every leaf and its row of some arrays; None remains None."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda leaf: leaf is None)
    return jax.tree.unflatten(
        structure,
        [
            None if leaf is None and not of_none else of(leaf, *(row[k] for row in rows))
            for k, leaf in enumerate(leaves)
        ],
    )


class _Sample:
    """The numbers of a tree at the sampled positions, a row for each leaf."""

    def __init__(self, tree: optax.Params, state: CalibrationState) -> None:
        quadruples = state.estimators.gradients_seen.astype(np.uint32) // np.uint32(4)
        leaves = _leaves(tree)
        self.width = state.previous.shape[1]
        self.positions = [
            () if leaf is None else positions(jnp.shape(leaf), quadruple)
            for leaf, quadruple in zip(leaves, quadruples, strict=True)
        ]
        counts = [1 if leaf is None else max(count(jnp.size(leaf)), 1) for leaf in leaves]
        self.counts = np.array(counts, np.float32)

    def __call__(self, tree: optax.Params) -> jax.Array:
        rows = []
        for leaf, where in zip(_leaves(tree), self.positions, strict=True):
            row = jnp.zeros(0, np.float32) if leaf is None else look_up(jnp.asarray(leaf), where)
            rows.append(jnp.pad(row, (0, self.width - len(row))))
        # Estimates are constants for derivatives: their roots are not differentiable at 0.
        return lax.stop_gradient(jnp.stack(rows))


def _limited(g: jax.Array, limit: jax.Array) -> jax.Array:
    """Clip a gradient to [-limit, limit]; NaN remains NaN."""
    g = jnp.asarray(g)
    limit = limit.astype(g.dtype) if jnp.issubdtype(g.dtype, jnp.floating) else limit
    return jnp.clip(g, -limit, limit)


def _varying(state: CalibrationState, params: optax.Params) -> CalibrationState:
    """Let the state differ between devices where the parameters do, within `jax.shard_map`."""
    zero = sum(jnp.zeros_like(leaf, np.float32, shape=()) for leaf in jax.tree.leaves(params))
    return CalibrationState(*(numbers + zero for numbers in state))
