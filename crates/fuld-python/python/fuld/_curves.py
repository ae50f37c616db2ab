"""The functions of the law at x."""

from __future__ import annotations

from numpy.typing import ArrayLike

from fuld._arrays import Values
from fuld._parameters import Parameters


class Curves(Parameters):
    """Density, distribution, quantile and score."""

    __slots__ = ()

    def pdf(self, x: ArrayLike) -> Values:
        """Density ψ(x).

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.5).pdf([0.0, 1.0])
        array([0.28735275, 0.20203816])
        """
        return self._at("pdf", x)

    def logpdf(self, x: ArrayLike) -> Values:
        """Logarithm of the density, finite also where that underflows.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(2.0).logpdf([0.0, 1000.0])
        array([-1.26551212e+00, -2.50001266e+05])
        """
        return self._at("logpdf", x)

    def cdf(self, x: ArrayLike) -> Values:
        """P(X <= x). For large x this is close to 1: use `sf` for the difference from 1.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.0).cdf([-1.0, 0.0, 1.0])
        array([0.25, 0.5 , 0.75])
        """
        return self._at("cdf", x)

    def logcdf(self, x: ArrayLike) -> Values:
        """Logarithm of `cdf`, finite also where that underflows.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(2.0).logcdf([-100.0, 0.0])
        array([-2.50517774e+03, -6.93147181e-01])
        """
        return self._at("logcdf", x)

    def sf(self, x: ArrayLike) -> Values:
        """P(X > x), to its relative accuracy however far in the tail.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.5).sf([0.0, 1e9])
        array([5.00000000e-01, 6.30783131e-15])
        """
        return self._at("sf", x)

    def logsf(self, x: ArrayLike) -> Values:
        """Logarithm of `sf`, finite also where that underflows.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable([1.5, 2.0]).logsf(1e250)
        array([-865.08149559,          -inf])
        """
        return self._at("logsf", x)

    def ppf(self, q: ArrayLike) -> Values:
        """The x with P(X <= x) = q; NaN unless 0 <= q <= 1.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.5).ppf([0.5, 0.75, 0.999999])
        array([0.00000000e+00, 9.68933182e-01, 3.41393852e+03])
        """
        return self._at("ppf", q, "q")

    def isf(self, q: ArrayLike) -> Values:
        """The x with P(X > x) = q: for small q much finer than ``ppf(1 - q)``.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.0).isf([0.25, 1e-300])
        array([1.00000000e+000, 3.18309886e+299])
        """
        return self._at("isf", q, "q")

    def score(self, x: ArrayLike) -> Values:
        """The score d/dx ln ψ(x) = ψ'(x)/ψ(x): negative for x > 0, asymptotically -(1 + α)/x.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.0).score([0.0, 1.0, 100.0])
        array([-0.      , -1.      , -0.019998])
        """
        return self._at("score", x)

    def score_derivative(self, x: ArrayLike) -> Values:
        """d²/dx² ln ψ(x), the derivative of the score s, to 1e-12 (|s'| + s²) for alpha >= 0.1.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.0).score_derivative([0.0, 1.0, 2.0])
        array([-2.  , -0.  ,  0.24])
        """
        return self._at("score_derivative", x)

    def characteristic_function(self, omega: ArrayLike) -> Values:
        """E exp(iωX) = exp(-|σω|^α), which is real.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.0).characteristic_function([0.0, 1.0])
        array([1.        , 0.36787944])
        """
        return self._at("characteristic_function", omega, "omega")
