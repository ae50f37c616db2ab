"""The fields of the dynamics, for plots and experiments."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fuld import _native
from fuld._arguments import number
from fuld._arrays import doubles, real_array

Reals: TypeAlias = NDArray[np.floating[Any]]
Energy = Literal["stable", "gaussian"]


def riesz(u: ArrayLike, dx: float, order: float, axis: int = -1) -> Reals:
    """Riesz derivative of a function given on a uniform grid.

    The operator D^order u = F^-1{abs(omega)**order F u} of the paper, F the Fourier transform:
    order = 0 gives u, order = 2 gives -u'', negative orders are Riesz potentials. u is taken as
    band-limited between its samples and as 0 off the grid; for such a u the result is exact, and
    nothing wraps around from one end of the grid to the other.

    Parameters
    ----------
    u : array_like
        Samples of u; float32 gives float32, all else float64.
    dx : float
        The spacing of the grid. No finer than u requires: rounding grows as (pi/dx)**order.
    order : float
        The order of the derivative, -1 < order <= 20.
    axis : int
        The axis along which the grid runs; the others hold other functions.

    Returns
    -------
    ndarray
        D^order u on the same grid, in the shape of `u`.

    Examples
    --------
    The half derivative of a bell at its top is 2**(1/4) Gamma(3/4) / sqrt(pi):

    >>> import math, numpy as np, fuld
    >>> x = np.linspace(-10, 10, 81)
    >>> half = fuld.riesz(np.exp(-(x**2) / 2), dx=0.25, order=0.5)
    >>> bool(abs(half[40] - 2**0.25 * math.gamma(0.75) / math.pi**0.5) < 1e-13)
    True
    """
    array = real_array(u, "u")
    if array.ndim == 0:
        raise ValueError(f"u must be samples on a grid, got the single number {array}")
    _refuse_where(~np.isfinite(array), array, "u")
    last = np.moveaxis(array, axis, -1)
    rows = doubles(last).reshape(-1, last.shape[-1]) if last.size else np.zeros((0, 0))
    result = _native.riesz(rows, number("dx", dx), number("order", order))
    return np.moveaxis(result.reshape(last.shape), -1, axis).astype(array.dtype, copy=False)


def drift_c(v: ArrayLike, alpha: ArrayLike, beta: ArrayLike = 1.0) -> Reals:
    """Friction c(v) for stable noise and a Gaussian kinetic energy.

    With it, dv = -gamma c(v) dt + (gamma/beta)**(1/alpha) dL leaves v normal, of variance 1/beta
    (Theorem 2 of the paper, for every beta)::

        c(v) = D^(alpha-2)(psi v)/psi,  psi = exp(-beta v**2/2)
             = beta**((alpha-3)/2) c1(sqrt(beta) v)
        c1(v) = 2**(alpha/2) Gamma((alpha+1)/2)/sqrt(pi) v 1F1((2-alpha)/2; 3/2; v**2/2)

    It is v at alpha = 2 and grows as exp(beta v**2/2) below.

    Parameters
    ----------
    v : array_like
        Velocities; float32 gives float32, all else float64.
    alpha : array_like
        Tail index of the noise, 0 < alpha <= 2.
    beta : array_like
        Inverse temperature, positive.

    Returns
    -------
    ndarray or scalar
        c(v), in the shape to which the three broadcast.

    Examples
    --------
    >>> import numpy as np, fuld
    >>> fuld.drift_c(np.array([-1.0, 0.0, 3.0]), alpha=2.0)
    array([-1.,  0.,  3.])
    >>> fuld.drift_c(3.0, alpha=[1.0, 1.5, 2.0]).round(3)
    array([28.239, 13.101,  3.   ])
    """
    return _element_wise(_native.drift_c, v, alpha, beta)


def transport_h(v: ArrayLike, alpha: ArrayLike, beta: ArrayLike = 1.0) -> Reals:
    """Velocity h(v) of the position in FULD with the stable kinetic energy.

    exp(-beta g) is then the density of the law that linear friction with stable noise keeps, and
    dx/dt is the slope of g::

        h(v) = beta**(1/alpha - 1) grad G_alpha(beta**(1/alpha) v)

    which is the paper's grad G_alpha at beta = 1. It is v at alpha = 2; below, it has a knee where
    the tail of the noise begins and falls as (1 + alpha)/(beta v).

    Parameters
    ----------
    v : array_like
        Velocities; float32 gives float32, all else float64.
    alpha : array_like
        Tail index of the noise, 0.1 <= alpha <= 2. A table is built for each, in milliseconds; its
        relative error is at most 1e-12.
    beta : array_like
        Inverse temperature, positive.

    Returns
    -------
    ndarray or scalar
        h(v), in the shape to which the three broadcast.

    Examples
    --------
    At alpha = 1 it is 2v/(1 + v**2):

    >>> import numpy as np, fuld
    >>> fuld.transport_h(np.array([0.0, 1.0, 3.0]), alpha=1.0).round(12)
    array([0. , 1. , 0.6])
    """
    return _element_wise(_native.transport_h, v, alpha, beta)


def flmc_drift(potential: str, x: ArrayLike, alpha: float, beta: float = 1.0) -> Reals:
    """Exact drift b(x) of fractional Langevin Monte Carlo in one dimension.

    With it, dx = b(x) dt + beta**(-1/alpha) dL leaves exp(-beta f) invariant::

        b = -D^(alpha-2)(phi f')/phi,  phi = exp(-beta f)

    It is -f' at alpha = 2.

    Parameters
    ----------
    potential : str
        The potential f: a formula of one variable, or a name like ``"double_well"``.
    x : array_like
        Positions, finite and not so far out that exp(beta f) overflows, or NaN, which gives NaN;
        float32 gives float32, all else float64.
    alpha : float
        Tail index of the noise, 0 < alpha <= 2.
    beta : float
        Inverse temperature, positive.

    Returns
    -------
    ndarray or scalar
        b(x). Its error is below 1e-8 of abs(b) + 1/(beta w), w the width of phi, and mostly 1e-11.

    Examples
    --------
    With a quadratic f it is the drift of a Gaussian law, which `drift_c` has in closed form:

    >>> import numpy as np, fuld
    >>> x = np.linspace(-3, 3, 7)
    >>> b = fuld.flmc_drift("x^2/2", x, alpha=1.5)
    >>> np.allclose(b, -fuld.drift_c(x, alpha=1.5), rtol=1e-8)
    True
    """
    array = real_array(x, "x")
    # Samples of b do not show its growth towards ±∞.
    _refuse_where(np.isinf(array), array, "x")
    b = _native.flmc_drift(
        _formula(potential), doubles(array), number("alpha", alpha), number("beta", beta)
    )
    return _shaped(b, array, array.shape)


class ConformalField(NamedTuple):
    """Velocity of (x, v) without noise; `transport` and `force` keep the energy f(x) + g(v)."""

    transport: Reals
    """dx/dt = h(v)."""
    force: Reals
    """The part of dv/dt that keeps the energy, -f'(x)."""
    friction: Reals
    """The part of dv/dt that lowers it, -gamma c(v)."""

    @property
    def acceleration(self) -> Reals:
        """dv/dt, both parts together."""
        return self.force + self.friction


def conformal_field(
    potential: str,
    x: ArrayLike,
    v: ArrayLike,
    alpha: float,
    *,
    gamma: float,
    beta: float = 1.0,
    energy: Energy = "stable",
) -> ConformalField:
    """Deterministic part of FULD at points (x, v): arrows for a phase portrait.

    FULD is dx = h(v) dt, dv = -f'(x) dt - gamma c(v) dt and noise; without the noise it is a
    conformal Hamiltonian system. At alpha = 2 it is gradient descent with momentum in continuous
    time, h(v) = c(v) = v.

    Parameters
    ----------
    potential : str
        The potential f: a formula of one variable, or a name like ``"double_well"``.
    x, v : array_like
        Positions and velocities, which broadcast.
    alpha : float
        Tail index of the noise: 0.1 <= alpha <= 2, with the Gaussian energy 0 < alpha <= 2.
    gamma : float
        Friction, not negative.
    beta : float
        Inverse temperature, positive.
    energy : str
        The kinetic energy g: ``"stable"`` (h as in `transport_h`, c(v) = v) or ``"gaussian"``
        (h(v) = v, c as in `drift_c`).

    Returns
    -------
    ConformalField
        `transport`, `force`, `friction`, and `acceleration`, the sum of the last two.

    Examples
    --------
    >>> import numpy as np, fuld
    >>> x, v = np.meshgrid(np.linspace(-2, 2, 5), np.linspace(-3, 3, 7))
    >>> field = fuld.conformal_field("x^4/4 - x^2/2", x, v, alpha=1.5, gamma=0.5)
    >>> field.transport.shape, bool((field.friction == -0.5 * v).all())
    ((7, 5), True)

    ``plt.streamplot(x, v, field.transport, field.acceleration)`` draws it.
    """
    if energy not in get_args(Energy):
        raise ValueError(f"energy must be 'stable' or 'gaussian', got {energy!r}")
    positions, velocities = _together(x=real_array(x, "x"), v=real_array(v, "v"))
    parts = _native.conformal_field(
        _formula(potential),
        (doubles(positions), doubles(velocities)),
        energy == "gaussian",
        number("alpha", alpha),
        number("beta", beta),
        number("gamma", gamma),
    )
    like = np.empty(0, np.result_type(positions, velocities))
    return ConformalField(*(_shaped(part, like, positions.shape) for part in parts))


def _element_wise(
    native: Callable[[NDArray[np.float64], float, float], NDArray[np.float64]],
    v: ArrayLike,
    alpha: ArrayLike,
    beta: ArrayLike,
) -> Reals:
    """Calls the native function once for every pair of parameters that occurs."""
    velocities, alphas, betas = (
        real_array(values, name) for name, values in (("v", v), ("alpha", alpha), ("beta", beta))
    )
    if alphas.ndim == betas.ndim == 0:
        out = native(doubles(velocities), float(alphas), float(betas))
        return _shaped(out, velocities, velocities.shape)
    spread = _together(v=velocities, alpha=alphas, beta=betas)
    flat, *parameters = (doubles(array) for array in spread)
    pairs, which, counts = np.unique(
        np.stack(parameters), axis=1, return_inverse=True, return_counts=True
    )
    out = np.empty_like(flat)
    order = np.argsort(which.reshape(-1), kind="stable")
    places = np.split(order, np.cumsum(counts)[:-1]) if order.size else []
    for (one_alpha, one_beta), place in zip(pairs.T, places, strict=True):
        out[place] = native(flat[place], float(one_alpha), float(one_beta))
    return _shaped(out, velocities, spread[0].shape)


def _together(**arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = " and ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{shapes} do not broadcast") from None


def _shaped(values: NDArray[np.float64], like: NDArray[Any], shape: tuple[int, ...]) -> Reals:
    """The values in a shape, as precise as `like`; a scalar if the shape is that of one."""
    shaped: Reals = values.reshape(shape).astype(like.dtype, copy=False)
    return shaped if shape else shaped[()]


def _refuse_where(bad: NDArray[np.bool_], array: NDArray[Any], name: str) -> None:
    """Raises ValueError for the first number that is bad for not being finite."""
    if bad.any():
        place = ", ".join(str(int(i)) for i in np.argwhere(bad)[0])
        where = f"{name}[{place}]" if place else name
        raise ValueError(f"{where} is {array[bad][0]}; {name} must be finite")


def _formula(potential: str) -> str:
    if not isinstance(potential, str):
        raise TypeError(f"the potential must be a formula such as 'x^4/4', got {potential!r}")
    return potential
