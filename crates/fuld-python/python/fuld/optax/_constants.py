"""The numbers in the formulas of a calibration, as Rust has them."""

from __future__ import annotations

from typing import NamedTuple

from fuld import _native


class Constants(NamedTuple):
    """What `fuld::optimizer::Calibration::constants` hands over; why they are so is said there."""

    mild: float
    least: float
    no_noise: float
    noise: float
    shared: float
    gaussian: float
    grid: float
    bend_spread: float
    bend_limited: float
    bend_behind: float
    bend_short: float
    bend_root: float
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

#: How many numbers are kept of an array beside its gradients.
HEAD = len(_native.calibration_start(0))
