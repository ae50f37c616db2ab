"""Checks of the settings of an optimizer.

Concrete numbers are checked when the optimizer is created. Traced values cannot be read, so only
their shapes are checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
from jax.typing import ArrayLike

from fuld._arguments import number
from fuld.optax._field import LEAST_ALPHA, Number


def setting(
    name: str,
    value: Any,  # noqa: ANN401
    good: Callable[[float], bool],
    must: str,
) -> Number:
    """Return a number: a float that satisfies `good`, or a traced scalar."""
    if isinstance(value, jax.core.Tracer):
        if value.ndim:
            raise ValueError(
                f"{name} must be one number, got an array of shape {value.shape}: "
                "for several at once map over them with jax.vmap"
            )
        return value
    if callable(value):
        raise TypeError(
            f"{name} must be a number, got a schedule: "
            "schedules for all but the learning rate go through optax.inject_hyperparams"
        )
    known = number(name, value)
    if not good(known):
        raise ValueError(f"{name} must {must}, got {known}")
    return known


def alpha_setting(value: ArrayLike | str) -> Number:
    """Return the tail index."""
    return setting(
        "alpha",
        value,
        lambda alpha: LEAST_ALPHA <= alpha <= 2,
        f"satisfy {LEAST_ALPHA} <= alpha <= 2",
    )


def knee_setting(form: str, noise_scale: ArrayLike | None, beta: ArrayLike | None) -> Number:
    """Return `noise_scale` in the matched form and `beta` in the paper's."""
    if form == "paper":
        if noise_scale is not None:
            raise ValueError(
                f"noise_scale requires form='matched', got noise_scale={noise_scale} with "
                "form='paper': give beta, or leave it out"
            )
        return positive("beta", 1.0 if beta is None else beta)
    if beta is not None:
        raise ValueError(
            f"beta requires form='paper', got beta={beta} with form='matched': give noise_scale, "
            "or leave it out"
        )
    if isinstance(noise_scale, str):
        raise TypeError(
            f"noise_scale must be a number, got {noise_scale!r}: for noise of unknown scale put "
            "fuld.optax.guard() before the optimizer"
        )
    return positive("noise_scale", 1.0 if noise_scale is None else noise_scale)


def positive(name: str, value: ArrayLike | str) -> Number:
    """Return a number above 0."""
    return setting(name, value, lambda x: 0 < x < math.inf, "be positive and finite")


def not_negative(name: str, value: ArrayLike) -> Number:
    """Return a number that is not below 0."""
    return setting(name, value, lambda x: 0 <= x < math.inf, "be finite and not negative")


def momentum_setting(value: ArrayLike | None, form: str, nesterov: bool) -> Number | None:
    """Return the momentum, or None for none."""
    if nesterov and (value is None or (isinstance(value, (int, float)) and value == 0)):
        raise ValueError(f"nesterov=True requires a momentum above 0, got {value}")
    if value is None:
        return None
    if form == "matched":
        must = "be at least 0 and below 1, where noise would accumulate"
        return setting("momentum", value, lambda x: 0 <= x < 1, must)
    return setting("momentum", value, lambda x: 0 <= x <= 1, "satisfy 0 <= momentum <= 1")


def form_setting(value: str) -> str:
    """Return the form."""
    if value not in ("matched", "paper"):
        raise ValueError(f"form must be 'matched' or 'paper', got {value!r}")
    return value
