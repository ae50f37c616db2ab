"""Potentials of the tests, where other processes can import them."""

import os
import time

import numpy as np


def well(x):
    """The double well x^4/4 - x^2/2, summed over coordinates, for one point or for many."""
    return (x**4 / 4 - x**2 / 2).sum(axis=-1), x**3 - x


def one_well(x):
    """The same, for one point alone."""
    if x.ndim != 1:
        raise TypeError("one point, please")
    return sum(c**4 / 4 - c**2 / 2 for c in x.tolist()), x**3 - x


def slow_well(x):
    """The same, with a pause in every call."""
    time.sleep(0.002)
    return well(x)


def far_well(x):
    """The same, until a chain is far out."""
    if np.abs(x).max() > 2.5:
        raise ArithmeticError(f"too far out: {np.abs(x).max():.3f}")
    return well(x)


def deep_well(x):
    """Another: twice as deep."""
    value, gradient = well(x)
    return 2 * value, 2 * gradient


def deadly_well(x):
    """The same, but the first process that is not the test's own to call it dies."""
    mark = os.environ["FULD_TEST_MARK"]
    if os.getpid() != int(os.environ["FULD_TEST_PID"]):
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), 9)
    return well(x)
