"""The transformation that finds its own tail index and scale."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.typing import DTypeLike

from fuld.optax._calibration import Known, Reading, look, reading, settle, start
from fuld.optax._direction import bent_at
from fuld.optax._field import Field, Number, field
from fuld.optax._momentum import accumulate
from fuld.optax._places import count, look_up, places


class CalibratedState(NamedTuple):
    """What a calibrated transformation remembers."""

    #: That of `optax.trace`.
    buffer: optax.OptState
    decay: optax.OptState
    known: Known


def calibrated(
    momentum: Number | None,
    alpha: Number | None,
    scale: Number | None,
    *,
    nesterov: bool,
    accumulator_dtype: DTypeLike | None,
    decay: optax.GradientTransformation,
) -> optax.GradientTransformationExtraArgs:
    """Return the matched form with alpha or the bend, or both, as they are found.

    g ← g within ±limit, then decay,  b ← μb + g,  d = K/slope · ∇G_α(b/K)
    """
    buffer = accumulate(momentum, nesterov, accumulator_dtype)
    memory = 1.0 if momentum is None else 1 - momentum

    def init(params: optax.Params) -> CalibratedState:
        known = start([0 if leaf is None else jnp.size(leaf) for leaf in _leaves(params)])
        return CalibratedState(buffer.init(params), decay.init(params), _varying(known, params))

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

        known = state.known
        rows = known.before.shape[0]
        if rows != len(_leaves(updates)):
            raise ValueError(
                f"the state is that of {rows} parameters, got {len(_leaves(updates))} gradients"
            )
        if rows:
            sample = _Sample(updates, known)
            known = look(known, sample(updates), sample.counts, alpha, limited=scale is None)
            # Of these only the sample is computed: what is limited in the end is known after it.
            tried, _, _ = followed(known.head.limit_in_use)
            known = settle(known, sample(tried), sample.counts, alpha, scale, memory)
        head = known.head
        b, buffer_state, decay_state = followed(jnp.where(head.plain, jnp.inf, head.limit_in_use))
        bends = jnp.where(head.plain, 1, head.bend)

        @functools.cache
        def tables(dtype: np.dtype[Any]) -> Field:
            # All at once: it would be compiled anew for each parameter.
            return jax.vmap(lambda alpha: field(alpha, dtype))(head.alpha)

        def direction(b: jax.Array, row: int) -> jax.Array:
            def table(dtype: np.dtype[Any]) -> Field:
                if alpha is not None:
                    return field(alpha, dtype)
                return Field(*(numbers[row] for numbers in tables(dtype)))

            used = head.alpha[row] if alpha is None else alpha
            bent = bent_at(b, used, bends[row], table)
            return jnp.where(head.plain[row], b, bent)

        directions = _each(direction, b, range(rows))
        return directions, CalibratedState(buffer_state, decay_state, known)

    return optax.GradientTransformationExtraArgs(init, update)


def calibration(state: optax.OptState, params: optax.Params | None = None) -> Any:  # noqa: ANN401
    """Say what ``alpha="auto"`` and ``scale="auto"`` have found.

    Parameters
    ----------
    state : optax.OptState
        Of `fuld`, `scale_by_fuld`, or anything that has these in it.
    params : optax.Params, optional
        Parameters, or anything of their structure. Needed only with ``momentum=None``, where the
        state does not know it.

    Returns
    -------
    tree of NamedTuple
        In the place of each parameter its `noise_alpha` and `noise_scale`, the tail index and the
        scale of the gradients' noise (NaN before there were four gradients); `alpha`, the tail
        index in use; `bend`, where the momentum bends; `limit`, the largest component of a gradient
        that enters the momentum; and `bent`, the share of the coordinates beyond the bend. None in
        the place of a parameter that is not calibrated.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from fuld.optax import calibration, fuld
    >>> optimizer = fuld(0.1, alpha="auto", scale="auto")
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
            "nothing in this state was calibrated: it must be that of a fuld "
            'with alpha="auto" or scale="auto"'
        )
    trees = [_readings(state, params) for state in states]

    def found(*candidates: Any) -> Reading | None:  # noqa: ANN401
        return next((one for one in candidates if isinstance(one, Reading)), None)

    return jax.tree.map(
        found, *trees, is_leaf=lambda x: x is None or isinstance(x, (Reading, optax.MaskedNode))
    )


def _readings(state: CalibratedState, params: optax.Params | None) -> Any:  # noqa: ANN401
    if isinstance(state.buffer, optax.TraceState):
        params = state.buffer.trace
    elif params is None:
        raise ValueError("with momentum=None the state has no structure: give params as well")
    rows, leaves = state.known.before.shape[-2], len(_leaves(params))
    if rows != leaves:
        raise ValueError(f"the state is that of {rows} parameters, got {leaves} in params")
    of_all = reading(state.known)

    def one(leaf: Any, row: Any) -> Reading | None:  # noqa: ANN401
        return None if leaf is None else Reading(*(numbers[..., row] for numbers in of_all))

    return _each(one, params, range(rows), of_none=True)


def _is_calibrated(part: object) -> bool:
    return isinstance(part, CalibratedState)


def _leaves(tree: optax.Params) -> list[Any]:
    """Return all leaves: None is one of them, as a gradient that is None has a parameter."""
    return jax.tree.leaves(tree, is_leaf=lambda leaf: leaf is None)


def _each(of: Any, tree: optax.Params, *rows: Any, of_none: bool = False) -> optax.Params:  # noqa: ANN401
    """Call a function with every leaf and its row of some arrays; None stays None."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda leaf: leaf is None)
    return jax.tree.unflatten(
        structure,
        [
            None if leaf is None and not of_none else of(leaf, *(row[k] for row in rows))
            for k, leaf in enumerate(leaves)
        ],
    )


class _Sample:
    """The numbers of a tree at the places of a calibration, a row for each leaf."""

    def __init__(self, tree: optax.Params, known: Known) -> None:
        quadruples = known.head.gradients_seen.astype(np.uint32) // np.uint32(4)
        leaves = _leaves(tree)
        self.width = known.before.shape[1]
        self.places = [
            () if leaf is None else places(jnp.shape(leaf), quadruple)
            for leaf, quadruple in zip(leaves, quadruples, strict=True)
        ]
        counts = [1 if leaf is None else max(count(jnp.size(leaf)), 1) for leaf in leaves]
        self.counts = np.array(counts, np.float32)

    def __call__(self, tree: optax.Params) -> jax.Array:
        rows = []
        for leaf, where in zip(_leaves(tree), self.places, strict=True):
            row = jnp.zeros(0, np.float32) if leaf is None else look_up(jnp.asarray(leaf), where)
            rows.append(jnp.pad(row, (0, self.width - len(row))))
        # Alpha and bend are numbers to whoever differentiates: roots have no derivative at 0.
        return lax.stop_gradient(jnp.stack(rows))


def _limited(g: jax.Array, limit: jax.Array) -> jax.Array:
    """Move a gradient into [-limit, limit]; NaN stays NaN."""
    g = jnp.asarray(g)
    limit = limit.astype(g.dtype) if jnp.issubdtype(g.dtype, jnp.floating) else limit
    return jnp.clip(g, -limit, limit)


def _varying(known: Known, params: optax.Params) -> Known:
    """Let what is known differ between devices where the parameters do, within `jax.shard_map`."""
    zero = sum(jnp.zeros_like(leaf, np.float32, shape=()) for leaf in jax.tree.leaves(params))
    return Known(*(numbers + zero for numbers in known))
