"""Expectations by quadrature."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuld._summaries import Summaries

# The number of nodes doubles up to this often.
DOUBLINGS = 11
# The last doubling may change the result by this part of the mean of |func|, and so much may be
# left of the integrand at the outermost node, beyond which it is cut off.
SETTLED = 1e-11
# Probabilities below this part of all are far out.
FAR = 1e-30


def new_nodes(doubling: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The nodes p = 1/(1 + exp(-π sinh t)) of ∫₀¹ dp that a doubling adds, and their weights dp/dt.

    Towards 0 they fall double-exponentially to the smallest doubles: the integrand may be singular
    there. Towards 1 they round to it, so there it may not.
    """
    step = 0.5**doubling
    t = np.arange(-6.1 + step * (doubling > 1), 3.2, step if doubling == 1 else 2 * step)
    odds = np.exp(np.pi * np.sinh(t))
    return odds / (1 + odds), np.pi * np.cosh(t) * odds / (1 + odds) ** 2


class Integral(NamedTuple):
    """What a quadrature gives."""

    value: float
    doubt: float
    """By how much it may be off, about."""
    size: float
    """The integral of the absolute value."""


def integral(
    integrand: Callable[[NDArray[np.float64]], NDArray[Any]], low: float, high: float
) -> Integral:
    """∫ integrand(u) du over low < u < high."""
    total = size = doubt = 0.0
    for doubling in range(1, DOUBLINGS + 1):
        p, weight = new_nodes(doubling)
        with np.errstate(all="ignore"):
            terms = weight * integrand(low + (high - low) * p)
            # So far out what overflows is likely a step of func, such as x² in ln(1 + x²). It is
            # left out; were it not negligible, the sums would not settle.
            terms = terms[np.isfinite(terms) | (p > FAR)]
            before, total, size = total, total + terms.sum(), size + np.abs(terms).sum()
            # The sums lack the step as a factor, which a doubling halves.
            doubt = max(abs(total - 2 * before), abs(terms[0]) * 2**doubling)
        # An infinite sum stays so.
        if not np.isfinite(size) or (doubling > 3 and doubt <= SETTLED * size):
            break
    step = (high - low) * 0.5**doubling
    return Integral(step * total, step * doubt, step * size)


def expectation(
    law: Summaries, func: Callable[[Any], Any], low: float, high: float, conditional: bool
) -> float:
    """E func(X) over low < X < high, the four quarters of the law each by themselves."""
    if np.ndim(law.alpha) or np.ndim(law.scale):
        raise ValueError("expect is for one law: alpha and scale must be numbers, not arrays")
    if not low <= high:
        raise ValueError(f"lb must not be above ub, got lb = {low} and ub = {high}")
    probability = float(law.sf(low) - law.sf(high) if low > 0 else law.cdf(high) - law.cdf(low))
    if conditional and probability == 0:
        raise ValueError(
            f"no draw lies between lb = {low} and ub = {high}, to double precision: "
            "there is nothing to divide by; move them apart"
        )

    def real(x: NDArray[np.float64]) -> NDArray[Any]:
        values = np.asarray(func(x))
        if values.dtype.kind == "c":
            raise TypeError(
                f"func must return real numbers, got {values.dtype}: "
                "ask for the real and the imaginary part one by one"
            )
        return np.broadcast_to(values.astype(np.float64, copy=False), x.shape)

    # A quarter of the law ends where func may be singular, at 0 or far out, and begins where not.
    # Near 0 nodes are placed in x, which doubles resolve there, and beyond in the probability.
    quartile = float(law.isf(0.25))
    quarters: list[Integral] = []
    for sign, inner, outer in (
        (1, max(low, 0.0), max(high, 0.0)),
        (-1, max(-high, 0.0), max(-low, 0.0)),
    ):

        def near(x: NDArray[np.float64], sign: int = sign) -> NDArray[Any]:
            return np.asarray(law.pdf(x) * real(sign * x))

        def far(q: NDArray[np.float64], sign: int = sign) -> NDArray[Any]:
            return real(sign * law.isf(q))

        if inner < min(outer, quartile):
            quarters.append(integral(near, inner, min(outer, quartile)))
        if max(inner, quartile) < outer:
            ends = float(law.sf(outer)), float(law.sf(max(inner, quartile)))
            quarters.append(integral(far, *ends))
    result, doubt, size = (float(sum(parts)) for parts in zip((0, 0, 0), *quarters, strict=True))
    if not (doubt <= SETTLED * size < np.inf):
        warnings.warn(
            f"the expectation has not settled: {result} may be wrong, or it may not exist",
            RuntimeWarning,
            stacklevel=3,
        )
    return result / probability if conditional else result
