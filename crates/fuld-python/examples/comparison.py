"""Whether two sets of curves come from one source."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def standard_errors(one: Floats, other: Floats) -> Floats:
    """The difference of two means in standard errors, Welch's t, at each point; curves are rows."""
    error = one.var(0, ddof=1) / len(one) + other.var(0, ddof=1) / len(other)
    # Where all curves agree to the last digit there is nothing to divide by, nor a difference.
    return np.asarray((one.mean(0) - other.mean(0)) / np.sqrt(np.maximum(error, 1e-30)))


def permutation_test(one: Floats, other: Floats) -> tuple[float, float]:
    """The largest of the standard errors over the curve, and how often chance exceeds it.

    Exact: if the curves come from one source, every division of all of them into two such sets is
    as likely as the one that was found, and the second number is the share of those divisions with
    a largest difference at least as large. It is at most p with a chance of at most p.
    """
    found = float(np.abs(standard_errors(one, other)).max())
    curves = np.concatenate([one, other])
    everyone = range(len(curves))
    count = larger = 0
    for chosen in combinations(everyone, len(one)):
        rest = [i for i in everyone if i not in chosen]
        largest = np.abs(standard_errors(curves[list(chosen)], curves[rest])).max()
        count += 1
        larger += bool(largest >= found * (1 - 1e-9))
    return found, larger / count
