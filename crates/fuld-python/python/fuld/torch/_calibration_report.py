"""What an optimizer has found for its parameters, to be read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from fuld.torch._auto_settings import calibrates
from fuld.torch._calibration import Calibration
from fuld.torch._calibration_state import KEY, reading
from fuld.torch._parameter_names import all_names, given_names
from fuld.torch._table import ending, number, table

_HEADS = ("parameter", "noise alpha", "noise sigma", "alpha", "bend", "limit", "bent")


class Calibrations(dict[str, Calibration]):
    """A `Calibration` for each parameter, by its name; printed, it is a table."""

    def __str__(self) -> str:
        if not self:
            return "nothing is calibrated yet: no gradients, or neither alpha nor scale is 'auto'"
        return "\n".join(table(_HEADS, [_cells(name, of) for name, of in self.items()]))


def report(
    optimizer: torch.optim.Optimizer, names: torch.nn.Module | Iterable[Any] | None
) -> Calibrations:
    """What is known of the parameters of groups that calibrate themselves."""
    members = [(group, x) for group in optimizer.param_groups for x in group["params"]]
    called = all_names(optimizer, given_names(optimizer, names))
    found = Calibrations()
    for name, (group, x) in zip(called, members, strict=True):
        # Not optimizer.state[x], which would make one.
        known = optimizer.state.get(x, {}).get(KEY)
        if known is not None and calibrates(group):
            found[name] = reading(x, known)
    return found


def _cells(name: str, of: Calibration) -> tuple[str, ...]:
    straight = of.is_straight
    return (
        ending(name),
        number(of.noise_alpha, ".2f"),
        number(of.noise_sigma, ".3g"),
        number(of.alpha, ".2f"),
        "none" if straight else number(of.bend, ".3g"),
        "none" if math.isinf(of.limit) else number(of.limit, ".3g"),
        number(of.bent, ".2%"),
    )
