"""Where the law is measured: panels of the (alpha, x) plane, and points picked to be difficult."""

import math
from collections import namedtuple

import numpy as np


class Panel(namedtuple("Panel", "origin sign lowest highest log_x cells per_cell")):
    """A rectangle of the plane in which every cell gets its own random points, so that chance leaves none out.

    alpha = origin + sign * d with d from lowest to highest: d uniform, or log-uniform where that spans decades.
    `log_x` is the range of log10 x; `cells` counts cells along d and along x, each with `per_cell` points.
    """

    @property
    def is_log(self):
        """Whether d is log-uniform."""
        return self.highest / self.lowest > 25

    def place(self, u, v):
        """(alpha, x) at u along d and v along x, both between 0 and 1."""
        if self.is_log:
            d = self.lowest * (self.highest / self.lowest) ** u
        else:
            d = self.lowest + (self.highest - self.lowest) * u
        return self.origin + self.sign * d, power(*self.log_x, v)

    def distance_edges(self):
        """Boundaries of the cells along d."""
        spaced = np.geomspace if self.is_log else np.linspace
        return spaced(self.lowest, self.highest, self.cells[0] + 1)

    def x_edges(self):
        """Boundaries of the cells along x."""
        return np.logspace(*self.log_x, self.cells[1] + 1)

    def points(self, rng):
        """(row, column, alpha, x), rows along d and columns along x."""
        rows, columns = self.cells
        for row in range(rows):
            for column in range(columns):
                for _ in range(self.per_cell):
                    u, v = (row + rng.random()) / rows, (column + rng.random()) / columns
                    yield row, column, *self.place(u, v)


def power(low, high, u):
    """10 to the power u of the way from low to high."""
    return 10.0 ** (low + (high - low) * u)


PANELS = {
    "plane": Panel(0.0, 1, 0.1, 2.0, (-8, 8), (120, 120), 6),
    "above one": Panel(1.0, 1, 1e-15, 0.1, (-8, 8), (56, 80), 3),
    "below one": Panel(1.0, -1, 1e-15, 0.1, (-8, 8), (56, 80), 3),
    "below two": Panel(2.0, -1, 1e-15, 0.1, (-8, 8), (56, 80), 3),
    "small alpha": Panel(0.0, 1, 0.003, 0.1, (-100, 100), (60, 60), 2),
}


def box(origin, sign, lowest, highest, *log_x):
    """A panel for `search`, which needs no cells."""
    return Panel(origin, sign, lowest, highest, log_x, (1, 1), 0)


# Where `search` looks for the largest errors.
BOXES = {
    "0.03 ≤ α < 0.1, x from 1e-100 to 1e10": box(0.0, 1, 0.03, 0.1, -100, 10),
    "0.1 ≤ α < 0.3, x from 1e-40 to 1e10": box(0.0, 1, 0.1, 0.3, -40, 10),
    "0.3 ≤ α < 0.75, x from 1e-15 to 1e4": box(0.0, 1, 0.3, 0.75, -15, 4),
    "0.75 ≤ α < 1.25, x from 1e-10 to 1e4": box(0.0, 1, 0.75, 1.25, -10, 4),
    "1.25 ≤ α < 1.93, x from 1e-9 to 100": box(0.0, 1, 1.25, 1.93, -9, 2),
    "1.93 ≤ α < 2, x from 1e-9 to 100": box(0.0, 1, 1.93, 1.9999, -9, 2),
    "α − 1 from 2e-16 to 0.01, x from 1e-10 to 1e3": box(1.0, 1, 2.3e-16, 0.01, -10, 3),
    "1 − α from 1e-16 to 0.01, x from 1e-10 to 1e3": box(1.0, -1, 1.2e-16, 0.01, -10, 3),
    "2 − α from 2e-16 to 0.01, x from 1e-10 to 1e3": box(2.0, -1, 2.3e-16, 0.01, -10, 3),
    "2 − α from 2e-16 to 0.1, x from 1 to 25": box(2.0, -1, 2.3e-16, 0.1, 0, math.log10(25)),
}


def bisect(alphas, is_low):
    """For each alpha the x, to rounding, at which `is_low` turns false; it takes and gives a list."""
    lows, highs = [1e-290] * len(alphas), [1e290] * len(alphas)
    for _ in range(75):
        middles = [math.sqrt(low) * math.sqrt(high) for low, high in zip(lows, highs, strict=True)]
        for i, below in enumerate(is_low(list(zip(alphas, middles, strict=True)))):
            (lows if below else highs)[i] = middles[i]
    return highs


def regime_edges(alphas, law):
    """Where the formula at the origin ends and where the tail series starts, for each alpha.

    `law` gives the rows of the example `evaluate` for a list of points.
    """
    origin_ends = bisect(alphas, lambda points: [row[6] == "Origin" for row in law(points)])
    tail_starts = bisect(alphas, lambda points: [row[6] != "Tail" for row in law(points)])
    return origin_ends, tail_starts


def mixed_alpha(rng):
    """An alpha from 0.1 to 2, often close to 1 or 2, never equal to them."""
    d = power(-15, -1, rng.random())
    return rng.choice((rng.uniform(0.1, 1.99), 1 + d, 1 - d, 2 - d))


def around(rng, name, alphas, places):
    """(name, alpha, x) on either side of each place, from next to it to a third away."""
    for alpha, place in zip(alphas, places, strict=True):
        for sign in (-1, 1):
            yield name, alpha, place * (1 + sign * power(-15.5, -0.5, rng.random()))


def difficult_points(rng, law, count=1000):
    """(class, alpha, x) where formulas change, g'' changes sign, or alpha or x is extreme."""
    alphas = [mixed_alpha(rng) for _ in range(count)]
    for edges in regime_edges(alphas, law):
        yield from around(rng, "seams", alphas, edges)
    for name, low, high in (("inflections", 0.1, 2.0), ("small inflections", 0.03, 0.1)):
        alphas = [low * (high / low) ** rng.random() for _ in range(count)]
        zeros = bisect(alphas, lambda points: [float(row[5]) > 0 for row in law(points)])
        yield from around(rng, name, alphas, zeros)
    for _ in range(4 * count):
        yield "far", rng.uniform(0.3, 2), power(-300, 300, rng.random())
    for _ in range(2 * count):
        yield (
            "tiny alpha",
            power(-12, math.log10(0.003), rng.random()),
            power(-300, 300, rng.random()),
        )


TABLE_ALPHAS = (0.3, 0.8, 1.5, 1.9)  # of the picture
TABLE_LOG_V = (-8, 12)
# name: alpha as a function of a number between 0 and 1
TABLE_CLASSES = {
    "0.3 ≤ α < 2": lambda u: 0.3 + 1.7 * u,
    "0.1 ≤ α < 0.3": lambda u: 0.1 + 0.2 * u,
    "α − 1 from 1e-15 to 0.1": lambda u: 1 + power(-15, -1, u),
    "1 − α from 1e-15 to 0.1": lambda u: 1 - power(-15, -1, u),
    "2 − α from 1e-15 to 0.1": lambda u: 2 - power(-15, -1, u),
}


def table_points(rng):
    """(class, alpha, v) for the field table: v over the width of the picture, and over that of single precision."""
    for alpha in TABLE_ALPHAS:
        for i in range(2400):
            yield "picture", alpha, power(*TABLE_LOG_V, (i + rng.random()) / 2400)
    for name, alpha_at in TABLE_CLASSES.items():
        for i in range(40):
            alpha = alpha_at((i + rng.random()) / 40)
            for j in range(100):
                yield name, alpha, power(*((-37, 37) if j % 2 else TABLE_LOG_V), rng.random())


# name: alpha as a function of a number between 0 and 1
QUANTILE_ALPHAS = {
    "0.3 ≤ α < 1.9": lambda u: 0.3 + 1.6 * u,
    "2 − α from 1e-15 to 0.1": lambda u: 2 - power(-15, -1, u),
    "α = 2": lambda u: 2.0,
}
# name: q likewise
QUANTILE_RANGES = {
    "½ − q from 1e-9 to 0.01": lambda v: 0.5 - power(-9, -2, v),
    "q from 0.1 to 0.49": lambda v: 0.1 + 0.39 * v,
    "q from 1e-20 to 0.1": lambda v: power(-20, -1, v),
    "q from 1e-100 to 1e-20": lambda v: power(-100, -20, v),
    "q from 1e-300 to 1e-100": lambda v: power(-300, -100, v),
}
