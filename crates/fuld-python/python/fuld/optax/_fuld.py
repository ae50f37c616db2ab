"""`fuld` and `from_paper`, the optimizers of the package for optax."""

# No "from __future__ import annotations": optax.inject_hyperparams reads the annotations as types.

from collections.abc import Callable
from typing import Any, Literal

import optax
from jax.typing import ArrayLike, DTypeLike

from fuld._arguments import flag
from fuld.optax._guard import CLIP_FOR_SGD, guard
from fuld.optax._scale_by_fuld import scale_by_fuld
from fuld.optax._settings import alpha_setting, not_negative, positive, setting

#: A tree of booleans like the parameters, or a function that returns one.
Mask = Any | Callable[[optax.Params], Any]


def fuld(
    learning_rate: optax.ScalarOrSchedule,
    momentum: ArrayLike | None = 0.9,
    alpha: ArrayLike | Literal["auto"] = 1.75,
    noise_scale: ArrayLike | None = None,
    *,
    form: str = "matched",
    beta: ArrayLike | None = None,
    nesterov: bool = False,
    weight_decay: ArrayLike | None = None,
    decoupled_weight_decay: bool = False,
    mask: Mask | None = None,
    accumulator_dtype: DTypeLike | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Fractional underdamped Langevin dynamics as an optimizer: SGD for heavy-tailed gradients.

    b ← momentum · b + g,  x ← x - learning_rate · (K/s) ∇G_α(b/K)

    with s = ∇G_α'(0) and the momentum knee K = noise_scale · (1 - momentum)^(-1/α). For small b the
    step is that of SGD with the same learning rate and momentum; beyond K it decreases as 1/b. A
    constant gradient g leads to b = g/(1 - momentum), so it reaches the knee at
    noise_scale · (1 - momentum)^(1 - 1/α): begin with a noise_scale well above the gradients. At
    alpha = 2 the step is that of `optax.sgd`, bit for bit (to rounding if alpha is traced). Without
    weight decay so is the state: each optimizer can continue a run of the other.

    Parameters
    ----------
    learning_rate : float or schedule
        As for SGD; in the matched form it is only a factor of the step.
    momentum : float, optional
        0 <= momentum < 1, or None for no buffer at all.
    alpha : float or "auto", optional
        Tail index of the gradient noise, 0.1 <= alpha <= 2: the smaller it is, the smaller is the
        effect of large gradients. "auto" is for noise of unknown tail index and scale: it is
        alpha = 2, which is SGD, behind `guard` with clip = 1.
    noise_scale : float, optional
        Scale of the symmetric stable noise in the gradients, in units of the gradient, for the
        matched form; 1.0 by default. If it is too large, the step is SGD's. If it is so small that
        the mean gradient is beyond the knee, learning stalls.
    form : {"matched", "paper"}, optional
        "paper" is the step as published, x ← x - √lr κ^(α-1) ∇G_α(√lr b/κ), with κ = beta^(-1/α)
        in units of √lr b. See `from_paper`.
    beta : float, optional
        Inverse temperature, for the paper's form only; 1.0 by default.
    nesterov : bool, optional
        Whether the step follows g + momentum · b instead of b.
    weight_decay : float, optional
        Coefficient of the pull weight_decay · x that is added to the gradients.
    decoupled_weight_decay : bool, optional
        Whether x is multiplied by 1 - learning_rate · weight_decay instead, without the field.
    mask : tree of bool or callable, optional
        Which parameters decay; all if None.
    accumulator_dtype : dtype, optional
        Type of the buffer; that of the parameters if None.

    Returns
    -------
    optax.GradientTransformationExtraArgs

    Notes
    -----
    All hyperparameters may be traced values: wrap the optimizer with `optax.inject_hyperparams` to
    change or schedule them, or map over them with `jax.vmap`. Concrete values are checked when the
    optimizer is created; a traced alpha outside its range yields NaN. For parameters of half
    precision call ``inject_hyperparams`` with ``hyperparam_dtype=jnp.float32``: otherwise it rounds
    alpha to their precision. It would take a type such as ``jnp.float32`` as `accumulator_dtype`
    for a schedule: give its name, "float32".

    The relative error of the field is 1e-6 in float32 and half precision (3e-6 below alpha = 0.3)
    and 1e-8 in float64 (2e-7 for alpha < 0.12 or within 1.2e-7 of 2), for abs(b/κ) < 1e37. An alpha
    within 1e-9 of 2 gets the field of 2 - 1e-9, whose relative error near abs(b/κ) = 8, where the
    tail begins, is up to 1.

    An infinite gradient makes its parameter NaN, unless a `guard` comes before.

    Examples
    --------
    A small gradient takes the step of SGD, a very large one hardly moves its parameter:

    >>> import jax, jax.numpy as jnp, optax
    >>> from fuld.optax import fuld
    >>> optimizer = fuld(0.1, momentum=0.5, alpha=1.5)
    >>> gradients = jnp.array([0.01, 1.0, 1000.0])
    >>> updates, state = optimizer.update(gradients, optimizer.init(gradients))
    >>> print(updates.round(4))
    [-0.001  -0.0937 -0.0005]

    Training is as with every optimizer of optax:

    >>> x = jnp.array([5.0, -2.0])
    >>> state = optimizer.init(x)
    >>> for _ in range(200):
    ...     updates, state = optimizer.update(jax.grad(lambda x: jnp.sum(x**2))(x), state, x)
    ...     x = optax.apply_updates(x, updates)
    >>> bool(jnp.abs(x).max() < 1e-6)
    True

    Alpha on a schedule:

    >>> optimizer = optax.inject_hyperparams(fuld)(
    ...     learning_rate=0.1, alpha=optax.linear_schedule(1.2, 2.0, 1000)
    ... )
    """
    if not callable(learning_rate):
        learning_rate = not_negative("learning_rate", learning_rate)
    decoupled_weight_decay = flag("decoupled_weight_decay", decoupled_weight_decay)
    decay = None
    if weight_decay is not None:
        decay = optax.add_decayed_weights(not_negative("weight_decay", weight_decay), mask)
    elif mask is not None or decoupled_weight_decay:
        raise ValueError("mask and decoupled_weight_decay require weight_decay")
    if isinstance(alpha, str) and alpha != "auto":
        raise TypeError(f"alpha must be a number or 'auto', got {alpha!r}")
    tail_index, guarded = (2.0, True) if isinstance(alpha, str) else (alpha, False)
    if guarded and (form != "matched" or noise_scale is not None):
        raise ValueError("alpha='auto' requires form='matched', without noise_scale")
    stages: list[optax.GradientTransformation] = [
        scale_by_fuld(
            momentum,
            tail_index,
            noise_scale,
            form=form,
            beta=beta,
            learning_rate=learning_rate if form == "paper" else None,
            nesterov=nesterov,
            accumulator_dtype=accumulator_dtype,
        )
    ]
    if decay is not None:
        stages.insert(1 if decoupled_weight_decay else 0, decay)
    if guarded:
        stages.insert(0, guard(CLIP_FOR_SGD))
    return optax.chain(*stages, optax.scale_by_learning_rate(learning_rate))


def from_paper(
    eta: ArrayLike,
    gamma: ArrayLike,
    alpha: ArrayLike = 1.75,
    beta: ArrayLike = 1.0,
    *,
    nesterov: bool = False,
    weight_decay: ArrayLike | None = None,
    decoupled_weight_decay: bool = False,
    mask: Mask | None = None,
    accumulator_dtype: DTypeLike | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Return the optimizer in the paper's symbols: `fuld` with ``form="paper"``.

    v ← (1 - γη)v - ηg,  x ← x + η β^(1/α - 1) ∇G_α(β^(1/α) v)

    so that learning_rate = η² and momentum = 1 - γη.

    Parameters
    ----------
    eta : float
        Step size, above 0.
    gamma : float
        Friction, 0 <= gamma * eta <= 1.
    alpha : float, optional
        Tail index, 0.1 <= alpha <= 2.
    beta : float, optional
        Inverse temperature, above 0.
    nesterov, weight_decay, decoupled_weight_decay, mask, accumulator_dtype
        As for `fuld`.

    Returns
    -------
    optax.GradientTransformationExtraArgs

    Examples
    --------
    The settings of the paper's experiments on MNIST:

    >>> from fuld.optax import from_paper
    >>> optimizer = from_paper(eta=0.1, gamma=0.1, alpha=1.75)
    """
    eta, gamma = positive("eta", eta), not_negative("gamma", gamma)
    alpha, beta = alpha_setting(alpha), positive("beta", beta)
    friction = setting("gamma * eta", gamma * eta, lambda x: x <= 1, "be at most 1")
    return fuld(
        eta * eta,
        1 - friction,
        alpha,
        form="paper",
        beta=beta,
        nesterov=nesterov,
        weight_decay=weight_decay,
        decoupled_weight_decay=decoupled_weight_decay,
        mask=mask,
        accumulator_dtype=accumulator_dtype,
    )
