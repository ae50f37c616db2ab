"""The optimizer, ready to use."""

# No "from __future__ import annotations": those who read what learning_rate may be want the type.

from collections.abc import Callable
from typing import Any

import optax
from jax.typing import ArrayLike, DTypeLike

from fuld._arguments import flag
from fuld.optax._scale_by_fuld import transformation
from fuld.optax._settings import Auto, alpha_setting, is_auto, not_negative, positive, setting

#: A tree of booleans like the parameters, or a function that makes one of them.
Mask = Any | Callable[[optax.Params], Any]


def fuld(
    learning_rate: optax.ScalarOrSchedule,
    momentum: ArrayLike | None = 0.9,
    alpha: ArrayLike | Auto = 1.75,
    scale: ArrayLike | Auto = 1.0,
    *,
    form: str = "matched",
    nesterov: bool = False,
    weight_decay: ArrayLike | None = None,
    decoupled_weight_decay: bool = False,
    mask: Mask | None = None,
    accumulator_dtype: DTypeLike | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Fractional underdamped Langevin dynamics as an optimizer: SGD for heavy-tailed gradients.

    b ← momentum · b + g,  x ← x - learning_rate · (K/s) ∇G_α(b/K)

    with s = ∇G_α'(0) and K = scale · (1 - momentum)^(-1/α). Small b take the step of SGD with the
    same learning rate and momentum; beyond K, where noise of that scale would put b, the step falls
    as 1/b. A lasting gradient g has b = g/(1 - momentum), so it bends earlier, at
    scale · (1 - momentum)^(1 - 1/α): begin with a scale well above the gradients. At an alpha = 2
    that is known the step is that of `optax.sgd`, bit for bit (a traced one: to rounding), and,
    without weight decay, so is the state: each can go on where the other stopped.

    Parameters
    ----------
    learning_rate : float or schedule
        As for SGD; in the matched form it only multiplies.
    momentum : float, optional
        0 <= momentum < 1, or None for no buffer at all.
    alpha : float or "auto", optional
        Tail index, 0.1 <= alpha <= 2: the smaller, the less large gradients count.
    scale : float or "auto", optional
        Scale of the symmetric stable noise in the gradients, in their units. Too large, and the
        step is SGD's; too small for the gradients themselves, and learning stalls.
    form : {"matched", "paper"}, optional
        "paper" is the step as published, x ← x - √lr κ^(α-1) ∇G_α(√lr b/κ), where `scale` is
        κ = β^(-1/α), in units of √lr b. See `from_paper`.
    nesterov : bool, optional
        Step from g + momentum · b.
    weight_decay : float, optional
        Adds weight_decay · x to the gradients.
    decoupled_weight_decay : bool, optional
        Instead shrink x by the factor 1 - learning_rate · weight_decay, past the field.
    mask : tree of bool or callable, optional
        Which parameters decay; all if None.
    accumulator_dtype : dtype, optional
        Of the buffer; that of the parameters if None.

    Returns
    -------
    optax.GradientTransformationExtraArgs

    Notes
    -----
    What is "auto" is found for each parameter from its gradients, anew at each step; `calibration`
    says what. With ``scale="auto"`` components of gradients are moved into a limit that is found as
    well, before decay and momentum, unless alpha has come out as 2: then the step is SGD's. At most
    2066 numbers for each parameter are added to the state. Derivatives through a step take what was
    found as given.

    Every number may be traced: wrap with `optax.inject_hyperparams` to change or schedule it, or
    map over it with `jax.vmap`. Those that are known when the optimizer is made are checked; a
    traced alpha outside its range makes NaN. With parameters of half precision give
    ``inject_hyperparams`` the argument ``hyperparam_dtype=jnp.float32``: it rounds alpha to their
    precision otherwise. A type like ``jnp.float32`` as `accumulator_dtype` it would take for a
    schedule: name it, as "float32".

    The field is right to 1e-6 in float32 and half precision (3e-6 below alpha = 0.3) and to 1e-8 in
    float64 (2e-7 for alpha < 0.12 or within 1.2e-7 of 2), for abs(b/K) < 1e37. An alpha within 1e-9
    of 2, which only doubles can tell from it, gets the field of 2 - 1e-9: about abs(b/K) = 8, where
    the tail begins, that is wrong by up to itself.

    An infinite gradient makes its parameter NaN, if it is not limited.

    Examples
    --------
    A small gradient takes the step of SGD, one of a thousand hardly any:

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
        raise ValueError("mask and decoupled_weight_decay say how weights decay: give weight_decay")
    # What is calibrated are the gradients alone: there the decay is added within.
    within = not decoupled_weight_decay and (is_auto("alpha", alpha) or is_auto("scale", scale))
    stages = [
        transformation(
            momentum,
            alpha,
            scale,
            form=form,
            learning_rate=learning_rate if form == "paper" else None,
            nesterov=nesterov,
            accumulator_dtype=accumulator_dtype,
            decay=decay if within else None,
        )
    ]
    if decay is not None and not within:
        stages.insert(1 if decoupled_weight_decay else 0, decay)
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
    """The optimizer in the paper's symbols: `fuld` with ``form="paper"``.

    v ← (1 - γη)v - ηg,  x ← x + η β^(1/α - 1) ∇G_α(β^(1/α) v)

    so that learning_rate = η², momentum = 1 - γη, scale = β^(-1/α).

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
    The settings of the paper's experiments with MNIST:

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
        beta ** (-1 / alpha),
        form="paper",
        nesterov=nesterov,
        weight_decay=weight_decay,
        decoupled_weight_decay=decoupled_weight_decay,
        mask=mask,
        accumulator_dtype=accumulator_dtype,
    )
