"""`fuld`, the exact sampler of the package as an algorithm of BlackJAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from blackjax import SamplingAlgorithm
from blackjax.mcmc import hmc
from blackjax.mcmc.integrators import velocity_verlet
from jax.typing import ArrayLike

from fuld.blackjax._metric import metric
from fuld.blackjax._settings import step_size_setting, steps_setting

#: A state of a chain and the information about a transition, as `blackjax.mcmc.hmc` has them.
Transition: TypeAlias = tuple[Any, Any]


def fuld(
    logdensity_fn: Callable[..., Any],
    alpha: ArrayLike,
    step_size: ArrayLike,
    num_integration_steps: int,
    inverse_mass_matrix: ArrayLike = 1.0,
    *,
    divergence_threshold: float = 1000,
    integrator: Callable[..., Any] = velocity_verlet,
) -> SamplingAlgorithm:
    """Sample exactly with fractional underdamped Langevin dynamics: heavy-tailed HMC.

    Each step draws velocities v from the symmetric stable law SαS(α^(-1/α)), whose density is
    proportional to e^(-G_α). It takes leapfrog steps of the energy H = -logdensity + G_α(v), and
    accepts their end with probability min(1, e^(-ΔH)). The chain targets the density exactly, at
    every step size. At alpha = 2 the algorithm is `blackjax.hmc`, draw for draw.

    Parameters
    ----------
    logdensity_fn : callable
        Logarithm of the density, up to a constant, as a function of a position: any tree of arrays.
    alpha : float
        Tail index of the velocity, 0.1 <= alpha <= 2. 1.8 is the default of `fuld.sample`.
    step_size : float
        Time of one leapfrog step.
    num_integration_steps : int
        Leapfrog steps of one transition.
    inverse_mass_matrix : array_like, optional
        As for `blackjax.hmc`: the variances of the coordinates of the flattened position, or their
        covariance matrix. 1 for all coordinates by default.
    divergence_threshold : float, optional
        Growth of the energy above which a transition is reported as divergent.
    integrator : callable, optional
        An integrator from `blackjax.mcmc.integrators`.

    Returns
    -------
    blackjax.SamplingAlgorithm
        ``init(position)`` returns a `blackjax.mcmc.hmc.HMCState`. ``step(rng_key, state)`` returns
        the next state and a `blackjax.mcmc.hmc.HMCInfo`.

    See Also
    --------
    metric : The kinetic energy alone, for `blackjax.nuts` and other kernels.

    Notes
    -----
    `blackjax.window_adaptation` adapts the step size and the inverse mass matrix. With the inverse
    mass matrix LLᵀ, the momentum p of `HMCInfo` satisfies v = Lᵀp. If the matrix is diagonal, L
    holds the scales of the coordinates.

    All numbers may be traced values, but the energy is not differentiated by alpha. A known
    alpha is checked and brings its own table. For a traced alpha the table is computed from
    polynomials in alpha, once per algorithm; an alpha outside its range rejects every proposal.

    The kinetic energy has a relative error below 1e-11 in float64 and 1e-6 in float32; if alpha is
    traced, 1e-8 in float64 (2e-7 for alpha < 0.12). Velocities beyond the largest float, which have
    a probability of 0.001 in float32 at alpha = 0.1, are set to it: they do not move x.

    Examples
    --------
    A chain on a density with two modes:

    >>> import jax, jax.numpy as jnp
    >>> from fuld.blackjax import fuld
    >>> def two_wells(x):
    ...     return x**2 / 2 - x**4 / 4
    >>> wells = fuld(two_wells, alpha=1.5, step_size=1.0, num_integration_steps=1)
    >>> def one_step(state, key):
    ...     state, info = wells.step(key, state)
    ...     return state, (state.position, info.acceptance_rate)
    >>> keys = jax.random.split(jax.random.key(1), 20_000)
    >>> _, (x, acceptance) = jax.lax.scan(one_step, wells.init(0.0), keys)
    >>> bool(abs(jnp.mean(x**2) - 1.0418) < 0.04)  # 1.0418 by quadrature
    True

    BlackJAX's adaptation returns all arguments, including alpha:

    >>> import blackjax
    >>> def logdensity(x):
    ...     return -0.5 * jnp.sum((x / jnp.array([1.0, 100.0])) ** 2)
    >>> warmup = blackjax.window_adaptation(fuld, logdensity, num_integration_steps=5, alpha=1.8)
    >>> (state, parameters), _ = warmup.run(jax.random.key(2), jnp.ones(2), num_steps=1000)
    >>> adapted = fuld(logdensity, **parameters)
    >>> state, info = adapted.step(jax.random.key(3), state)
    """
    kernel = hmc.build_kernel(integrator, divergence_threshold)
    step_size, steps = step_size_setting(step_size), steps_setting(num_integration_steps)
    kinetic = metric(alpha, inverse_mass_matrix)

    def init(position: Any, rng_key: Any = None) -> hmc.HMCState:  # noqa: ANN401
        del rng_key
        return hmc.init(position, logdensity_fn)

    def step(rng_key: Any, state: hmc.HMCState) -> Transition:  # noqa: ANN401
        state, info = kernel(rng_key, state, logdensity_fn, step_size, kinetic, steps)
        return state, info

    return SamplingAlgorithm(init, step)


def build_kernel(
    integrator: Callable[..., Any] = velocity_verlet, divergence_threshold: float = 1000
) -> Callable[..., Transition]:
    """Return a kernel whose settings are arguments, as BlackJAX's adaptation requires it."""
    kernel = hmc.build_kernel(integrator, divergence_threshold)

    def step(
        rng_key: Any,  # noqa: ANN401
        state: hmc.HMCState,
        logdensity_fn: Callable[..., Any],
        step_size: ArrayLike,
        inverse_mass_matrix: ArrayLike,
        num_integration_steps: int,
        alpha: ArrayLike,
    ) -> Transition:
        kinetic = metric(alpha, inverse_mass_matrix)
        steps = num_integration_steps
        state, info = kernel(rng_key, state, logdensity_fn, step_size, kinetic, steps)
        return state, info

    return step


# What adaptation in BlackJAX reads of an algorithm.
fuld.init = hmc.init  # type: ignore[attr-defined]
fuld.build_kernel = build_kernel  # type: ignore[attr-defined]
