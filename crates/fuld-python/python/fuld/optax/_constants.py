"""The constants in the formulas of a calibration, read from the Rust crate."""

from __future__ import annotations

from typing import NamedTuple

from fuld import _native


class Constants(NamedTuple):
    """The constants of `fuld::optimizer::Calibration::constants`, which documents them."""

    initial_alpha: float
    min_alpha: float
    no_noise: float
    noise: float
    shared: float
    gaussian: float
    grid: float
    knee_spread: float
    knee_limited: float
    knee_behind: float
    knee_short: float
    knee_root: float
    limit: float
    limit_spread: float
    limit_spread_noise: float
    limit_root: float
    limit_power: float
    smallest: float
    largest: float
    steps: float
    quadruples: float
    counted: float
    row: float
    mix_part: float
    mix_quadruple: float
    mix_both: float


CONSTANTS = Constants(**_native.calibration_constants())

#: How many numbers the state of an array has beside its sampled gradients.
ESTIMATORS = len(_native.calibration_start(0))
