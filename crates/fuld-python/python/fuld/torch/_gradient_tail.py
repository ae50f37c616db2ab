"""The estimated noise in the gradients of a parameter.

`gradient_tails` turns the running sums of `TailSums` into estimates with standard errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld.torch._tail_sums import MEANS, SQUARES, STEPS

_FEWEST = 5.0
"""Groups of four steps, counted by weight, from which on their scatter gives standard errors."""


@dataclass(frozen=True)
class GradientTail:
    """The noise in the gradients of one parameter, or of several; see `TailMonitor`.

    Numbers that are not known yet are nan.

    Attributes
    ----------
    alpha : float
        The tail index, at most 2.
    alpha_error : float
        Its standard error. Where `alpha` is cut off at 2, that of the number before.
    noise_scale : float
        The scale of the noise without the mean gradient, in units of the gradient: the geometric
        mean over the coordinates.
    noise_scale_error : float
        Its standard error.
    spread : float
        The standard deviation of log(noise_scale) between coordinates: most lie within a factor
        ``exp(spread)`` of `noise_scale`.
    beyond_knee : float
        The share of coordinates of the momentum buffer beyond the knee of the optimizer's field;
        nan for optimizers without such a field.
    zeros : float
        The share of coordinates left out because two of four successive gradients agreed, as those
        of dead units do.
    nonfinite : int
        How often a coordinate was left out because a gradient was infinite or nan.
    nonfinite_momenta : int
        Sampled coordinates of the momentum buffer that are infinite or nan now; counted for
        optimizers whose field has a knee.
    coordinates : int
        Coordinates sampled, 0 before the first gradient.
    steps : int
        Steps sampled.
    note : str
        Why there is no estimate, if there is none.
    """

    alpha: float
    alpha_error: float
    noise_scale: float
    noise_scale_error: float
    spread: float
    beyond_knee: float
    zeros: float
    nonfinite: int
    nonfinite_momenta: int
    coordinates: int
    steps: int
    note: str = ""


def gradient_tails(
    sums: NDArray[np.float64],
    coordinates: list[int],
    sparse: list[bool],
) -> list[GradientTail]:
    """Return the estimate of each row of sums: one per parameter, and last that of all together."""
    found: list[GradientTail] = []
    of_params = list(zip(coordinates, sparse, strict=True))
    for row, (count, is_sparse) in zip(sums, [*of_params, (0, any(sparse))], strict=True):
        finite, used, growth, log, covariance, beyond, known = row[:MEANS].tolist()
        nonfinite, groups, lost = row[MEANS + SQUARES :].tolist()
        if len(found) == len(of_params):
            count = sum(tail.coordinates for tail in found)
        numbers: dict[str, Any] = {
            "beyond_knee": beyond / known if known else math.nan,
            "zeros": 1 - used / finite if finite else math.nan,
            "nonfinite": round(nonfinite),
            "nonfinite_momenta": round(lost),
            "coordinates": count if finite or nonfinite else 0,
            "steps": STEPS * round(groups),
        }
        if used:
            growth, log = growth / used, log / used
            squares = row[MEANS : MEANS + SQUARES].reshape(3, 3)
            variances = _variances(used, growth, log, squares)
            estimate = _native.quadruple_estimate(log, growth, *variances)
            numbers["spread"] = math.sqrt(max(covariance / used, 0))
        else:
            estimate = (math.nan,) * 4
            numbers["spread"] = math.nan
            numbers["note"] = _why_nothing(is_sparse, finite, nonfinite)
        found.append(GradientTail(*estimate, **numbers))
    return found


def _variances(
    used: float, growth: float, log: float, squares: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return the variances of the means of log and growth, and their covariance.

    Four steps yield one sum over coordinates, which includes whatever the coordinates have in
    common. The noise of successive quadruples is assumed independent, so that the scatter of these
    sums over time is the uncertainty of their mean.
    """
    effective = used * used / squares[0, 0]
    if effective < _FEWEST:
        return (math.nan,) * 3
    residual = np.array([[-log, 0, 1], [-growth, 1, 0]])
    covariance = residual @ squares @ residual.T / (used * used) * effective / (effective - 1)
    return max(covariance[0, 0], 0.0), max(covariance[1, 1], 0.0), float(covariance[0, 1])


def _why_nothing(sparse: bool, finite: float, nonfinite: float) -> str:
    if sparse:
        return "sparse gradients"
    if finite:
        return "constant gradients"
    return "gradients not finite" if nonfinite else "no gradients yet"
