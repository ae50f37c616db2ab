"""The symmetric stable law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fuld import _native
from fuld._arrays import Values, double_array
from fuld._expectation import expectation
from fuld._random_words import RandomState
from fuld._rvs import Size, draw
from fuld._summaries import Summaries


@final
class SymmetricStable(Summaries):
    """The symmetric α-stable law SαS(σ), with characteristic function exp(-|σω|^α).

    It is `scipy.stats.levy_stable(alpha, 0, scale=scale)` with the same methods, to double
    precision: relative errors of `pdf`, `cdf`, `sf` and `score` are below 2e-14 for alpha >= 0.3
    (1e-12 for 0.003 <= alpha < 0.3), however far in the tail. At alpha = 2 it is the Gaussian of
    variance 2 scale², at alpha = 1 the Cauchy law.

    Parameters
    ----------
    alpha : array_like of float
        Tail index, 0 < alpha <= 2.
    scale : array_like of float, optional
        Scale σ, positive and finite.

    Notes
    -----
    Parameters may be arrays, and broadcast with each other and with the arguments of all methods.
    Arguments of dtype float32 are read as they are, computed with in double precision, and give
    float32; all others give float64. Contiguous arrays are not copied. Large ones are shared among
    the cores (the environment variable ``RAYON_NUM_THREADS`` says how many), with the lock of the
    interpreter released; their number does not change a bit of the results.

    Of `isf` and `ppf` the `sf` and `cdf` give q back to 1e-13 of min(q, 1 - q) for alpha >= 0.1;
    near the median x itself is less exact, for q knows its distance from 1/2 to 1e-16 only.
    `score_derivative` is exact to 1e-12 of abs(score_derivative) + score² for alpha >= 0.1.

    All functions are those of the unit law at x/scale. Where that quotient leaves the doubles, as
    at x = 1e300 for scale = 1e-300, they are what they are at 0 or at infinity: `sf` is 0 and
    `logsf` -inf, although they need not be.

    A law cannot be changed, can be a key of a dict, and can be pickled.

    Examples
    --------
    >>> from fuld import SymmetricStable
    >>> law = SymmetricStable(1.5)
    >>> law.pdf([0.0, 1.0, 100.0])
    array([2.87352751e-01, 2.02038160e-01, 3.00163603e-06])
    >>> print(f"{law.isf(1e-9):.6g}")  # exceeded once in a billion draws
    341392
    >>> SymmetricStable([[1.2], [1.8]]).cdf([0.0, 1.0])
    array([[0.5       , 0.75336781],
           [0.5       , 0.75871479]])
    """

    __slots__ = ()

    @classmethod
    def kinetic(cls, alpha: ArrayLike) -> SymmetricStable:
        """SαS(α^(-1/α)), whose negative score is the field ∇G_α of the dynamics.

        For 0.0075 <= alpha <= 2: below, the scale nears the largest double.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable.kinetic(1.0)
        SymmetricStable(alpha=1.0, scale=1.0)
        """
        values = double_array(alpha, "alpha")
        return cls(values, _native.kinetic_scale(values.reshape(-1)).reshape(values.shape))

    def rvs(
        self,
        size: Size | None = None,
        random_state: RandomState = None,
        dtype: DTypeLike = np.float64,
    ) -> Values:
        """Independent draws.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape of the result, by default that of the parameters: for numbers a scalar.
        random_state : None, int, numpy.random.Generator or numpy.random.RandomState, optional
            As in scipy: None, or the module `numpy.random`, is NumPy's global generator, an integer
            seeds a `numpy.random.RandomState`. Draws are made fastest from
            ``numpy.random.default_rng(seed)``.
        dtype : dtype, optional
            float64 or float32, which is float64 rounded.

        Notes
        -----
        Each draw takes one word of 64 bits from the stream of the generator, ``integers(0, 2**64,
        dtype=uint64)``, in C order, and is the quantile at that word, from a table. So ``rvs(3)``
        and then ``rvs(2)`` are ``rvs(5)``, and the quality of the draws is that of the generator.
        The table is exact to 1e-9 of each draw, near 0 to 1e-9 of the scale. That of an alpha is
        made at its first use, in some milliseconds, and the last 64 are kept; below
        alpha = 0.2 draws are made by the method of Chambers, Mallows and Stuck instead.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> import numpy as np
        >>> SymmetricStable(1.5).rvs(3, random_state=np.random.default_rng(1))
        array([-6.97948103, -0.17302338,  1.61825492])
        """
        return draw(self._alpha, self._scale, size, random_state, dtype)

    def expect(
        self,
        func: Callable[[Any], Any] | None = None,
        lb: float | None = None,
        ub: float | None = None,
        conditional: bool = False,
    ) -> float:
        """E func(X), or its part from lb to ub.

        Parameters
        ----------
        func : callable, optional
            Takes an array of x and returns an array of real values, or one for all; by default x
            itself.
        lb, ub : float, optional
            Bounds, by default -∞ and ∞.
        conditional : bool, optional
            Divide by the probability of lb < X < ub.

        Notes
        -----
        Functions that are smooth but at 0, and change no faster than powers there and far out, give
        thirteen digits: abs(x)**p does for -0.95 <= p <= 0.9 alpha if alpha >= 0.5, and log(abs(x))
        for all alpha >= 0.1. Powers closer to -1 or to alpha have too much weight beyond the
        doubles, and functions that oscillate far out are never resolved there: of cos at scale 3,
        six digits are right at alpha = 1.5 and four at alpha = 1. Jumps belong at lb and ub. Where
        the result does not settle to eleven digits, as in these cases, or if the expectation does
        not exist, a RuntimeWarning says so.

        Examples
        --------
        >>> import numpy as np
        >>> from fuld import SymmetricStable
        >>> law = SymmetricStable(1.5)
        >>> print(f"{law.expect(np.abs):.10f} {law.absolute_moment(1.0):.10f}")
        1.7054652402 1.7054652402
        """
        low, high = -np.inf if lb is None else float(lb), np.inf if ub is None else float(ub)
        return expectation(self, func or (lambda x: x), low, high, conditional)
