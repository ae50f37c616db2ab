"""What is known of the noise in the gradients of a parameter."""

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

    Numbers that are not known, or not yet, are nan.

    Attributes
    ----------
    alpha : float
        The tail index, at most 2.
    alpha_error : float
        Its standard error. Where `alpha` is cut off at 2, that of the number before.
    sigma : float
        The scale of the noise alone, without the mean gradient, in units of the gradient: the
        geometric mean of the coordinates' scales.
    sigma_error : float
        Its standard error.
    spread : float
        The standard deviation of log(sigma) between coordinates: they lie mostly within a factor
        ``exp(spread)`` of `sigma`.
    bent : float
        The share of coordinates of the momentum buffer in the bent region of the optimizer's
        field; nan for optimizers that have no such field.
    zeros : float
        The share of coordinates left out because two of four successive gradients agreed, as those
        of dead units do.
    nonfinite : int
        How often a coordinate was left out because a gradient was infinite or nan.
    nonfinite_momenta : int
        Coordinates of the momentum buffer that are infinite or nan now, of those that are looked
        at; counted for optimizers that have a field that bends.
    coordinates : int
        Coordinates looked at, 0 before there is a gradient.
    steps : int
        Steps looked at.
    note : str
        Why there is nothing, if there is nothing.
    """

    alpha: float
    alpha_error: float
    sigma: float
    sigma_error: float
    spread: float
    bent: float
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
    """Return what rows of sums say, each of a parameter with so many coordinates, and one of all.

    That of all is the last.
    """
    found: list[GradientTail] = []
    of_params = list(zip(coordinates, sparse, strict=True))
    for row, (count, is_sparse) in zip(sums, [*of_params, (0, any(sparse))], strict=True):
        finite, used, growth, log, covariance, bent, known = row[:MEANS].tolist()
        nonfinite, groups, lost = row[MEANS + SQUARES :].tolist()
        if len(found) == len(of_params):
            count = sum(tail.coordinates for tail in found)
        told: dict[str, Any] = {
            "bent": bent / known if known else math.nan,
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
            told["spread"] = math.sqrt(max(covariance / used, 0))
        else:
            estimate = (math.nan,) * 4
            told["spread"] = math.nan
            told["note"] = _why_nothing(is_sparse, finite, nonfinite)
        found.append(GradientTail(*estimate, **told))
    return found


def _variances(
    used: float, growth: float, log: float, squares: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return the variances of the means of log and growth, and their covariance.

    Four steps give one sum over coordinates, which holds whatever the coordinates have in common;
    from one four to the next the noise is taken to be independent, so that how these sums scatter
    in time is how sure their mean is.
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
