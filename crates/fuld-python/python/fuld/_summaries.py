"""The numbers that sum the law up."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from fuld._arrays import Values, real_array
from fuld._curves import Curves


class Summaries(Curves):
    """Moments, entropy and intervals."""

    __slots__ = ()

    def mean(self) -> Values:
        """The mean: 0 for alpha > 1; below it does not exist, which is NaN, as in scipy.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable([1.0, 1.5]).mean()
        array([nan,  0.])
        """
        return self._alone("mean")

    def median(self) -> Values:
        """The median, 0.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> float(SymmetricStable(0.5).median())
        0.0
        """
        return self._alone("median")

    def mode(self) -> Values:
        """The mode, 0.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> float(SymmetricStable(0.5).mode())
        0.0
        """
        return self._alone("mode")

    def var(self) -> Values:
        """The variance: 2σ² at alpha = 2, infinite below, as in scipy's `levy_stable`.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable([1.9, 2.0]).var()
        array([inf,  2.])
        """
        return self._alone("variance")

    def std(self) -> Values:
        """The standard deviation, the root of `var`.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> float(SymmetricStable(1.9).std())
        inf
        """
        return np.sqrt(self.var())

    def stats(self, moments: str = "mv") -> Values:
        """Mean, variance, skewness and excess kurtosis, by their letters among "mvsk".

        The last two are 0 at alpha = 2 and NaN below. One letter gives the value, several a tuple.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> [float(value) for value in SymmetricStable(1.5).stats("mvs")]
        [0.0, inf, nan]
        """
        if not moments or set(moments) - set("mvsk"):
            raise ValueError(f'moments must be letters of "mvsk", got {moments!r}')
        found = {"m": self.mean(), "v": self.var()}
        # The third moment is 0 where the law is Gaussian and NaN elsewhere, as both are.
        found["s"] = found["k"] = self.moment(3)
        chosen = tuple(found[letter] for letter in "mvsk" if letter in moments)
        return chosen if len(chosen) > 1 else chosen[0]

    def moment(self, order: int) -> Values:
        """E X^order for a whole order >= 0.

        Of odd order it is 0 below alpha and does not exist above, which is NaN; of even order it is
        infinite from alpha on. At alpha = 2 all exist. For fractional orders see `absolute_moment`.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> [float(SymmetricStable(1.5).moment(order)) for order in (0, 1, 2, 3)]
        [1.0, 0.0, inf, nan]
        """
        order = operator.index(order)
        if not 0 <= order < 2**32:
            raise ValueError(f"order must be a whole number >= 0, got {order}")
        return self._at("moment", float(order), "order")

    def absolute_moment(self, p: ArrayLike) -> Values:
        """E |X|^p in closed form, p real: infinite for p <= -1, and for p >= alpha < 2.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable(1.0).absolute_moment([0.0, 0.5, 1.0])
        array([1.        , 1.41421356,        inf])
        """
        return self._at("absolute_moment", p, "p")

    def entropy(self) -> Values:
        """Differential entropy -∫ ψ ln ψ in nats, to 1e-12 of max(1, entropy) for every alpha.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> SymmetricStable([1.0, 2.0]).entropy()
        array([2.53102425, 1.76551212])
        """
        return self._alone("entropy")

    def interval(self, confidence: ArrayLike) -> tuple[Values, Values]:
        """The interval around 0 that holds a draw with this probability, which lies in [0, 1].

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> low, high = SymmetricStable(1.0).interval(0.5)
        >>> print(f"{low:.3f} {high:.3f}")
        -1.000 1.000
        """
        within = real_array(confidence, "confidence")
        high = self.isf((1 - within.astype(np.float64)) / 2).astype(within.dtype)
        return -high, high

    def support(self) -> tuple[Values, Values]:
        """(-∞, ∞), in the shape of the parameters.

        Examples
        --------
        >>> from fuld import SymmetricStable
        >>> [float(end) for end in SymmetricStable(1.5).support()]
        [-inf, inf]
        """
        ends = np.full(np.broadcast_shapes(self._alpha.shape, self._scale.shape), np.inf)
        return (-ends)[()], ends[()]
