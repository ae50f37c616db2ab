"""Where the law is measured: panels of the (alpha, x) plane, and points picked to be difficult.

A panel is a rectangle in which every cell gets its own random points, so that no region is left out by chance.
"""

import math
import random
from collections import namedtuple

import numpy as np


class Panel(namedtuple("Panel", "origin sign lowest highest log_x cells per_cell")):
    """alpha = origin + sign * d with d in [lowest, highest]: d uniform, or log-uniform near a special alpha.

    `log_x` is the range of log10 x; `cells` counts cells along d and along x, each with `per_cell` points.
    """

    @property
    def is_log(self):
        """Whether d is log-uniform."""
        return self.highest / self.lowest > 25

    def distance_edges(self):
        """Boundaries of the cells along d."""
        spaced = np.geomspace if self.is_log else np.linspace
        return spaced(self.lowest, self.highest, self.cells[0] + 1)

    def x_edges(self):
        """Boundaries of the cells along x."""
        return np.logspace(*self.log_x, self.cells[1] + 1)

    def points(self, rng):
        """(row, column, alpha, x), rows along d and columns along x."""
        lo, hi = self.log_x
        for row in range(self.cells[0]):
            for column in range(self.cells[1]):
                for _ in range(self.per_cell):
                    u = (row + rng.random()) / self.cells[0]
                    v = (column + rng.random()) / self.cells[1]
                    if self.is_log:
                        d = self.lowest * (self.highest / self.lowest) ** u
                    else:
                        d = self.lowest + (self.highest - self.lowest) * u
                    yield row, column, self.origin + self.sign * d, 10.0 ** (lo + (hi - lo) * v)


PANELS = {
    "plane": Panel(0.0, 1, 0.1, 2.0, (-8, 8), (120, 120), 6),
    "above one": Panel(1.0, 1, 1e-15, 0.1, (-8, 8), (56, 80), 3),
    "below one": Panel(1.0, -1, 1e-15, 0.1, (-8, 8), (56, 80), 3),
    "below two": Panel(2.0, -1, 1e-15, 0.1, (-8, 8), (56, 80), 3),
    "small alpha": Panel(0.0, 1, 0.003, 0.1, (-100, 100), (60, 60), 2),
}


def mixed_alpha(rng):
    """An alpha from 0.1 to 2, often close to 1 or 2, never equal to them."""
    d = 10.0 ** rng.uniform(-15, -1)
    alpha = rng.choice((rng.uniform(0.1, 2), 1 + d, 1 - d, 2 - d))
    return alpha if alpha not in (1.0, 2.0) else 1.5


def bisect(alphas, low, high, is_low):
    """For each alpha the place, to rounding, where `is_low` of (alpha, x) pairs turns false between low and high."""
    lows, highs = [low] * len(alphas), [high] * len(alphas)
    for _ in range(75):
        middles = [math.sqrt(lo) * math.sqrt(hi) for lo, hi in zip(lows, highs, strict=True)]
        for i, below in enumerate(is_low(list(zip(alphas, middles, strict=True)))):
            if below:
                lows[i] = middles[i]
            else:
                highs[i] = middles[i]
    return highs


def around(rng, alphas, places, count):
    """`count` points on either side of each place, from next to it to a third away."""
    for alpha, place in zip(alphas, places, strict=True):
        for _ in range(count):
            d = 10.0 ** rng.uniform(-15.5, -0.5)
            yield alpha, place * (1 + d)
            yield alpha, place * (1 - d)


def difficult_points(rng, law):
    """(class, alpha, x) where formulas change or cancel. `law(points)` gives rows of the example `evaluate`."""
    alphas = [mixed_alpha(rng) for _ in range(1000)]
    origin_ends = bisect(alphas, 1e-290, 1e290, lambda points: [row[6] == "Origin" for row in law(points)])
    tail_starts = bisect(alphas, 1e-290, 1e290, lambda points: [row[6] != "Tail" for row in law(points)])
    for places in (origin_ends, tail_starts):
        for alpha, x in around(rng, alphas, places, 1):
            yield "seams", alpha, x
    alphas = [0.1 * 20 ** rng.random() for _ in range(1000)]
    zeros = bisect(alphas, 1e-290, 1e290, lambda points: [float(row[5]) > 0 for row in law(points)])
    for alpha, x in around(rng, alphas, zeros, 1):
        yield "inflections", alpha, x
    for _ in range(4000):
        yield "far", rng.uniform(0.3, 2), 10.0 ** rng.uniform(-300, 300)


TABLE_ALPHAS = (0.3, 0.8, 1.5, 1.9)
TABLE_LOG_V = (-8, 12)


def table_points(rng, count=3000):
    """(alpha, v) for the score table, log10 v random in each of `count` equal cells."""
    low, high = TABLE_LOG_V
    for alpha in TABLE_ALPHAS:
        for i in range(count):
            yield alpha, 10.0 ** (low + (high - low) * (i + rng.random()) / count)


# name: a random alpha
QUANTILE_ALPHAS = {
    "0.3 ≤ α < 2": lambda rng: rng.uniform(0.3, 2),
    "2 − α from 1e-15 to 0.1": lambda rng: 2 - 10.0 ** rng.uniform(-15, -1),
    "α = 2": lambda rng: 2.0,
}
# name: a range of log10 q
QUANTILE_RANGES = {
    "0.1 to 0.49": (-1, math.log10(0.49)),
    "1e-12 to 0.1": (-12, -1),
    "1e-100 to 1e-12": (-100, -12),
    "1e-300 to 1e-100": (-300, -100),
}


def quantile_points(rng, count=400):
    """(class of alpha, range of q, alpha, q)."""
    for name, alpha in QUANTILE_ALPHAS.items():
        for interval, (low, high) in QUANTILE_RANGES.items():
            for _ in range(count):
                yield name, interval, alpha(rng), 10.0 ** rng.uniform(low, high)


def generator(seed):
    """The source of all randomness of a run."""
    return random.Random(seed)
