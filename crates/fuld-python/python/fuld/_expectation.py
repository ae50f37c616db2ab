"""Expectations by quadrature."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld._summaries import Summaries

# The number of nodes doubles up to this often.
DOUBLINGS = 11
# The last doubling may change the result by this part of the mean of |func|.
SETTLED = 1e-11
# Probabilities below this part of all are far out.
FAR = 1e-30


def new_nodes(doubling: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The nodes p = 1/(1 + exp(-π sinh t)) of ∫₀¹ dp that a doubling adds, and their weights dp/dt.

    Towards 0 they fall double-exponentially to the smallest doubles: the integrand may be singular.
    """
    step = 0.5**doubling
    t = np.arange(-6.1 + step * (doubling > 1), 3.2, step if doubling == 1 else 2 * step)
    odds = np.exp(np.pi * np.sinh(t))
    return odds / (1 + odds), np.pi * np.cosh(t) * odds / (1 + odds) ** 2


def integral(
    integrand: Callable[[NDArray[np.float64]], NDArray[Any]], low: float, high: float
) -> tuple[float, bool]:
    """∫ integrand(q) dq over low < q < high, and whether it has settled."""
    if low == high:
        return 0.0, True
    total = size = 0.0
    for doubling in range(1, DOUBLINGS + 1):
        p, weight = new_nodes(doubling)
        with np.errstate(all="ignore"):
            terms = weight * integrand(low + (high - low) * p)
            # So far out what overflows is likely a step of func, such as x² in ln(1 + x²). It is
            # left out; were it not negligible, the sums would not settle.
            terms = terms[np.isfinite(terms) | (p > FAR)]
            before, total, size = total, total + terms.sum(), size + np.abs(terms).sum()
            # The sums lack the step as a factor, which a doubling halves.
            change = abs(total - 2 * before)
        if doubling > 3 and change <= SETTLED * size:
            break
    return (high - low) * 0.5**doubling * total, bool(change <= SETTLED * size)


def expectation(
    law: Summaries, func: Callable[[Any], Any], low: float, high: float, conditional: bool
) -> float:
    """E func(X) over low < X < high, each tail by itself, as an integral over its probability."""
    if np.ndim(law.alpha) or np.ndim(law.scale):
        raise ValueError("expect is for one law: alpha and scale must be numbers, not arrays")
    if not low <= high:
        raise ValueError(f"lb must not be above ub, got lb = {low} and ub = {high}")

    def tail(sign: int, inner: float, outer: float) -> tuple[float, bool]:
        def integrand(q: NDArray[np.float64]) -> NDArray[Any]:
            x = sign * law.isf(q)
            return np.broadcast_to(np.asarray(func(x), dtype=np.float64), x.shape)

        return integral(integrand, float(law.sf(outer)), float(law.sf(inner)))

    right, left = tail(1, max(low, 0.0), max(high, 0.0)), tail(-1, max(-high, 0.0), max(-low, 0.0))
    result = right[0] + left[0]
    if not (right[1] and left[1]):
        warnings.warn(
            f"the expectation has not settled: {result} may be wrong, or it may not exist",
            RuntimeWarning,
            stacklevel=3,
        )
    if conditional:
        result /= float(law.sf(low) - law.sf(high) if low > 0 else law.cdf(high) - law.cdf(low))
    return result
