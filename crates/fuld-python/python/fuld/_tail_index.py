"""Estimates of the tail index and the scale of data, with intervals."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, SupportsIndex, get_args

from numpy.typing import ArrayLike

from fuld import _native
from fuld._arguments import count, count_or_none, number
from fuld._arrays import doubles, real_array

Method = Literal["characteristic", "blocks", "log-moments", "hill"]
Scaling = Literal["per-coordinate", "common"]


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class TailIndex:
    """A tail index and a scale with their intervals; see `tail_index`.

    Attributes
    ----------
    alpha : float
        The tail index: in (0, 2], except for Hill's method, whose tails need not be stable.
    alpha_interval : Interval
        Bootstrap interval of `alpha` with coverage `level`; `.low` and `.high`.
    scale : float or None
        The scale of a law with characteristic function exp(-abs(scale * omega)**alpha); None for
        Hill's method, which does not estimate it.
    scale_interval : Interval or None
        Bootstrap interval of `scale`.
    gaussian_alpha : float or None
        The estimate for Gaussian numbers instead of the data: the median over many such samples.
        None without `control`.
    gaussian_interval : Interval or None
        Interval that contains the estimates for Gaussian numbers with probability `level`.
    method : str
        The method.
    level : float
        Nominal coverage of the intervals.
    n : int
        Number of data, or of rows.
    dimension : int
        Numbers per row.
    zeros : int
        Number of data that equal their centre and were left out, because their logarithm is
        infinite.
    """

    alpha: float
    alpha_interval: Interval
    scale: float | None
    scale_interval: Interval | None
    gaussian_alpha: float | None
    gaussian_interval: Interval | None
    method: str
    level: float
    n: int
    dimension: int
    zeros: int

    @property
    def heavy(self) -> bool | None:
        """Whether the interval of alpha lies below that of Gaussian numbers; None without them."""
        if self.gaussian_interval is None:
            return None
        return self.alpha_interval.high < self.gaussian_interval.low

    def __repr__(self) -> str:
        parts = [f"alpha={_formatted(self.alpha, self.alpha_interval)}"]
        if self.scale is not None and self.scale_interval is not None:
            parts.append(f"scale={_formatted(self.scale, self.scale_interval)}")
        if self.gaussian_alpha is not None and self.gaussian_interval is not None:
            parts.append(
                f"gaussian_alpha={_formatted(self.gaussian_alpha, self.gaussian_interval)}"
            )
        parts += [f"method={self.method!r}", f"level={self.level:g}", f"n={self.n}"]
        if self.dimension > 1:
            parts.append(f"dimension={self.dimension}")
        # If n is odd, one of them is the median itself.
        if self.zeros > 1:
            parts.append(f"zeros={self.zeros}")
        return f"TailIndex({', '.join(parts)})"


def tail_index(
    x: ArrayLike,
    method: Method = "characteristic",
    *,
    level: float = 0.9,
    resamples: SupportsIndex = 399,
    seed: SupportsIndex = 0,
    scaling: Scaling = "per-coordinate",
    control: bool = True,
    rounds: SupportsIndex | None = None,
    sizes: Iterable[SupportsIndex] | None = None,
    lags: SupportsIndex | None = None,
    k: SupportsIndex | None = None,
) -> TailIndex:
    """Estimate the tail index and the scale of symmetric stable data, with intervals.

    The data are assumed to be independent draws from one law that is symmetric about its median.
    The command `fuld tail-index` returns the same estimates for the same data and seed.

    Parameters
    ----------
    x : array_like
        Numbers, or rows of vectors (two dimensions): at least ten, finite, of any real dtype.
    method : str
        - ``"characteristic"``: regression on the characteristic function (Koutrouvelis). The most
          accurate for stable data; for other data it describes the bulk. With fewer than 20
          numbers it fails for up to 3 % of the samples.
        - ``"blocks"``: growth of sums of blocks (Mohammadi and others). Also for data whose sums
          become stable; requires independence and two blocks of the largest size: 32 numbers.
        - ``"log-moments"``: mean and variance of log(abs(x)). Noisy above 1.7, biased by zeros.
        - ``"hill"``: the largest numbers only. For any power tail, also above 2; misleading for
          stable laws above 1.5. Requires more than `k` numbers that are not all equal in size.
    level : float
        Nominal coverage of the intervals.
    resamples : int
        Number of bootstrap resamples and of samples of Gaussian numbers. Samples for which the
        method fails are drawn again, up to a hundred times.
    seed : int
        Seed of the random numbers. The result does not depend on the number of threads.
    scaling : str
        Scaling of the coordinates of rows before they are pooled. ``"per-coordinate"`` divides
        each by its interquartile range, because a mixture of scales resembles a heavy tail; the
        scale is then the geometric mean over the coordinates. ``"common"`` does not scale them.
        One-dimensional data are never scaled.
    control : bool
        Whether to apply the method also to Gaussian numbers of the same shape and quartiles. The
        data show a heavy tail only if alpha is clearly below the estimate for these numbers.
    rounds : int, optional
        For ``"characteristic"``: largest number of regressions; 10 by default.
    sizes : iterable of int, optional
        For ``"blocks"``: the block sizes; 4, 6, 8, 12, 16 by default.
    lags : int, optional
        For ``"blocks"``: a block has numbers 1, 2, ... or `lags` apart; 8 by default.
    k : int, optional
        For ``"hill"``: number of order statistics; ``n**(2/3) / 2`` by default.

    Returns
    -------
    TailIndex

    Examples
    --------
    >>> import numpy as np, fuld
    >>> cauchy = np.random.default_rng(1).standard_cauchy(2000)
    >>> found = fuld.tail_index(cauchy)
    >>> found  # doctest: +NORMALIZE_WHITESPACE
    TailIndex(alpha=1.00 [0.95, 1.06], scale=0.98 [0.93, 1.04],
              gaussian_alpha=1.999 [1.978, 2.000], method='characteristic', level=0.9, n=2000)
    >>> found.alpha_interval.low < 1 < found.alpha_interval.high, found.heavy
    (True, True)

    Gaussian numbers are stable too, with alpha = 2:

    >>> normal = np.random.default_rng(1).normal(size=2000)
    >>> fuld.tail_index(normal, "blocks")  # doctest: +NORMALIZE_WHITESPACE
    TailIndex(alpha=1.97 [1.88, 2.00], scale=0.700 [0.664, 0.732],
              gaussian_alpha=2.00 [1.90, 2.00], method='blocks', level=0.9, n=2000)
    """
    array = real_array(x, "x")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"x must be numbers (1-d) or rows of vectors (2-d), got shape {array.shape}; "
            "x.reshape(-1) makes one sample of all its numbers"
        )
    dimension = 1 if array.ndim == 1 else array.shape[1]
    if dimension == 0:
        raise ValueError(f"x has rows without numbers: shape {array.shape}")
    if scaling not in get_args(Scaling):
        raise ValueError(f"scaling must be 'per-coordinate' or 'common', got {scaling!r}")
    if not isinstance(method, str):
        raise TypeError(f"method must be a name such as 'characteristic', got {method!r}")
    if sizes is not None and not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must be several block sizes such as [4, 8], got {sizes!r}")
    settings = {
        "rounds": count_or_none("rounds", rounds, 1),
        "sizes": None if sizes is None else [count("a block size", m, 0) for m in sizes],
        "lags": count_or_none("lags", lags, 1),
        "k": count_or_none("k", k, 0),
    }
    level = number("level", level)
    name, alpha, alpha_ends, scale, scale_ends, zeros, gaussian = _native.tail_index(
        doubles(array),
        dimension,
        dimension == 1 or scaling == "common",
        method,
        settings,
        level,
        count("resamples", resamples, 0),
        count("seed", seed, 0),
        control,
    )
    return TailIndex(
        alpha=alpha,
        alpha_interval=Interval(*alpha_ends),
        scale=scale,
        scale_interval=None if scale_ends is None else Interval(*scale_ends),
        gaussian_alpha=None if gaussian is None else gaussian[0],
        gaussian_interval=None if gaussian is None else Interval(*gaussian[1]),
        method=name,
        level=level,
        n=len(array),
        dimension=dimension,
        zeros=zeros,
    )


def _formatted(value: float, interval: Interval) -> str:
    """Return a number and its interval, rounded by the width of the interval."""
    numbers = (value, *interval)
    width = max(interval.high - interval.low, 1e-6 * abs(value))
    decimals = _place(width) + 1 if width > 0 else 2
    sizes = [abs(number) for number in numbers if number] or [1.0]
    if min(sizes) >= 1e-4 and max(sizes) < 1e6:
        # The ends have at least two digits, so that none is rounded to 0.
        form = f".{min(max(decimals, _place(min(sizes)) + 1, 0), 9)}f"
    else:
        form = f".{min(max(decimals - _place(max(sizes)), 1), 9)}e"
    texts = [f"{number:{form}}" for number in numbers]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _place(size: float) -> int:
    """Return the position of the first digit of a number: 0 for units, 1 for tenths."""
    return -math.floor(math.log10(size))
