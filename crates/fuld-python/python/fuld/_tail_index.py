"""How heavy the tails of some numbers are."""

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
    """A tail index and a scale, with how sure they are; see `tail_index`.

    Attributes
    ----------
    alpha : float
        The tail index: in (0, 2], except for Hill's method, whose tails need not be stable.
    alpha_interval : Interval
        Where the bootstrap puts it, with probability `level`; `.low` and `.high`.
    scale : float or None
        The scale sigma of a law with characteristic function exp(-abs(sigma omega)**alpha); None
        for Hill's method, which gives none.
    scale_interval : Interval or None
        Its interval.
    gaussian_alpha : float or None
        What the same method says of Gaussian numbers in the place of the data: the median over
        many such samples. None without `control`.
    gaussian_interval : Interval or None
        Where it lies with probability `level`.
    method : str
        The method.
    level : float
        The probability with which the intervals are to cover.
    n : int
        How many numbers, or rows.
    dimension : int
        Numbers in a row.
    zeros : int
        How many numbers equal their centre and were left out, having no logarithm.
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
        told = [f"alpha={_told(self.alpha, self.alpha_interval)}"]
        if self.scale is not None and self.scale_interval is not None:
            told.append(f"scale={_told(self.scale, self.scale_interval)}")
        if self.gaussian_alpha is not None and self.gaussian_interval is not None:
            told.append(f"gaussian_alpha={_told(self.gaussian_alpha, self.gaussian_interval)}")
        told += [f"method={self.method!r}", f"level={self.level:g}", f"n={self.n}"]
        if self.dimension > 1:
            told.append(f"dimension={self.dimension}")
        # One is the median itself if n is odd.
        if self.zeros > 1:
            told.append(f"zeros={self.zeros}")
        return f"TailIndex({', '.join(told)})"


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

    The numbers are taken to be independent draws of one law that is symmetric about its median.
    The command `fuld tail-index` says the same of the same numbers and seed.

    Parameters
    ----------
    x : array_like
        Numbers, or rows of vectors (two dimensions): at least ten, finite, of any real dtype.
    method : str
        - ``"characteristic"``: regression on the characteristic function (Koutrouvelis). The most
          accurate for stable data; it describes the bulk of other data. Below 20 numbers it gives
          up on up to three samples in a hundred.
        - ``"blocks"``: how sums of blocks grow (Mohammadi and others). Also for data whose sums
          become stable; needs independence, and two blocks of the largest size: 32 numbers.
        - ``"log-moments"``: mean and variance of log(abs(x)). Noisy above 1.7, disturbed by zeros.
        - ``"hill"``: the largest numbers alone. Any power tail, also above 2; misleading for
          stable laws above 1.5. Needs more than `k` numbers that are not all equal in size.
    level : float
        The probability with which the intervals are to cover the truth.
    resamples : int
        Resamples of the bootstrap, and samples of Gaussian numbers. Those from which the method
        gives no estimate are drawn again, up to a hundred times.
    seed : int
        Everything random follows from this; how many threads there are changes nothing.
    scaling : str
        What to do with the coordinates of rows before they are pooled: ``"per-coordinate"``
        divides each by its interquartile range (the scale is then their geometric mean), for a
        mixture of scales looks like a heavy tail; ``"common"`` takes them as they are. Numbers are
        never scaled.
    control : bool
        Whether to run the method on Gaussian numbers of the same shape and quartiles too. An alpha
        that is not clearly below what it says of them is no evidence of a heavy tail.
    rounds : int, optional
        Of ``"characteristic"``: regressions at most, 10 unless given.
    sizes : iterable of int, optional
        Of ``"blocks"``: the block sizes, 4, 6, 8, 12, 16 unless given.
    lags : int, optional
        Of ``"blocks"``: numbers 1, 2, ... `lags` apart make a block, 8 unless given.
    k : int, optional
        Of ``"hill"``: how many order statistics, ``n**(2/3) / 2`` unless given.

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
            "x.reshape(-1) takes all its numbers as one sample"
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


def _told(value: float, interval: Interval) -> str:
    """A number and its interval, to the digits that the width of the interval leaves certain."""
    numbers = (value, *interval)
    width = max(interval.high - interval.low, 1e-6 * abs(value))
    decimals = _place(width) + 1 if width > 0 else 2
    sizes = [abs(number) for number in numbers if number] or [1.0]
    if min(sizes) >= 1e-4 and max(sizes) < 1e6:
        # However wide the interval, its ends have two digits: none looks like a 0 that it is not.
        form = f".{min(max(decimals, _place(min(sizes)) + 1, 0), 9)}f"
    else:
        form = f".{min(max(decimals - _place(max(sizes)), 1), 9)}e"
    told = [f"{number:{form}}" for number in numbers]
    return f"{told[0]} [{told[1]}, {told[2]}]"


def _place(size: float) -> int:
    """The decimal at which the digits of a number begin, 0 for units."""
    return -math.floor(math.log10(size))
