"""The kinetic energy of FULD as a metric of BlackJAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.mcmc.metrics import Metric, gaussian_euclidean
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import solve_triangular
from jax.typing import ArrayLike

from fuld.blackjax._draws import velocities
from fuld.blackjax._energy import Energy, energy, energy_table
from fuld.blackjax._settings import alpha_setting, inverse_mass_setting
from fuld.optax._field import Number


def metric(alpha: ArrayLike, inverse_mass_matrix: ArrayLike) -> Metric:
    """Return the α-stable kinetic energy, for kernels of BlackJAX that accept a metric.

    The momentum p has the kinetic energy K(p) = Σ G_α(v_i), where v = Lᵀp and LLᵀ is the inverse
    mass matrix. The v_i are independent draws from SαS(α^(-1/α)), whose density is proportional to
    e^(-G_α), and positions move with the velocity L∇G_α(v). At alpha = 2 this is
    `blackjax.mcmc.metrics.gaussian_euclidean`.

    Parameters
    ----------
    alpha : float
        Tail index of the velocity, 0.1 <= alpha <= 2. It may be a traced value.
    inverse_mass_matrix : array_like
        As for `blackjax.hmc`: the variances of the coordinates, or their covariance matrix.

    Returns
    -------
    blackjax.mcmc.metrics.Metric

    Notes
    -----
    The condition that ends trajectories of `blackjax.nuts` is the generalised one: the velocity at
    either end points against the sum of the momenta.

    Examples
    --------
    NUTS with heavy-tailed velocities, on a standard normal density:

    >>> import blackjax, jax, jax.numpy as jnp
    >>> from fuld.blackjax import metric
    >>> nuts = blackjax.nuts(lambda x: -0.5 * jnp.sum(x**2), 0.5, metric(1.8, jnp.ones(2)))
    >>> state, info = jax.jit(nuts.step)(jax.random.key(1), nuts.init(jnp.zeros(2)))
    >>> bool(info.is_divergent)
    False
    """
    alpha = alpha_setting(alpha)
    inverse_mass = inverse_mass_setting(inverse_mass_matrix)
    gaussian = gaussian_euclidean(inverse_mass)
    if isinstance(alpha, float) and alpha == 2:
        return gaussian
    velocity_of, momentum_of = _maps(inverse_mass)
    table = _tables(alpha)

    def sample_momentum(rng_key: jax.Array, position: Any) -> Any:  # noqa: ANN401
        flat, unravel = ravel_pytree(position)
        v = velocities(rng_key, flat.shape, alpha, _precision(flat.dtype))
        return unravel(momentum_of(v).astype(flat.dtype))

    def kinetic_energy(momentum: Any, position: Any = None) -> jax.Array:  # noqa: ANN401
        del position
        v = velocity_of(ravel_pytree(momentum)[0])
        held = table(v.dtype)
        return jnp.sum(energy(held, v.astype(held.starts.dtype)))

    def check_turning(
        momentum_left: Any,  # noqa: ANN401
        momentum_right: Any,  # noqa: ANN401
        momentum_sum: Any,  # noqa: ANN401
        position_left: Any = None,  # noqa: ANN401
        position_right: Any = None,  # noqa: ANN401
    ) -> jax.Array:
        del position_left, position_right
        trees = (momentum_left, momentum_right, momentum_sum)
        left, right, total = (ravel_pytree(tree)[0] for tree in trees)
        # The ends count half, as in BlackJAX's own metrics.
        between = total - 0.5 * (left + right)
        velocity = jax.grad(kinetic_energy)
        ends = (jnp.dot(velocity(end), between) for end in (left, right))
        return jnp.logical_or(*(product <= 0 for product in ends))

    return Metric(sample_momentum, kinetic_energy, check_turning, gaussian.scale)


def _maps(inverse_mass: jax.Array) -> tuple[Callable[..., jax.Array], Callable[..., jax.Array]]:
    """Return the maps p ↦ Lᵀp and back."""
    if inverse_mass.ndim < 2:
        scales = jnp.sqrt(inverse_mass)
        return lambda p: scales * p, lambda v: v / scales
    root = jnp.linalg.cholesky(inverse_mass)
    return lambda p: root.T @ p, lambda v: solve_triangular(root, v, trans=1, lower=True)


def _tables(alpha: Number) -> Callable[[Any], Energy]:
    """Return a function from the dtype of velocities to a table."""
    if isinstance(alpha, float):
        return lambda dtype: energy_table(alpha, _precision(dtype))
    # Once for all steps of a trajectory: for a traced alpha a table is a computation.
    table = energy_table(alpha, _precision(alpha.dtype))
    return lambda dtype: table


def _precision(dtype: Any) -> np.dtype[Any]:  # noqa: ANN401
    """Return the precision that a dtype is computed in."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)
