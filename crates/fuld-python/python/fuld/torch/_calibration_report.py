"""The calibrations of all parameters of an optimizer, as a dict that prints as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from fuld.torch._auto_settings import calibrates
from fuld.torch._calibration import Calibration
from fuld.torch._calibration_state import KEY, estimate
from fuld.torch._parameter_names import all_names, given_names
from fuld.torch._table import ending, number, table

_HEADS = (
    "parameter",
    "noise alpha",
    "noise scale",
    "alpha",
    "momentum knee",
    "limit",
    "beyond knee",
)


class Calibrations(dict[str, Calibration]):
    """A `Calibration` for each parameter, by its name; printed, it is a table."""

    def __str__(self) -> str:
        if not self:
            return "no calibration yet: no gradients, or neither alpha nor noise_scale is 'auto'"
        return "\n".join(table(_HEADS, [_cells(name, of) for name, of in self.items()]))


def report(
    optimizer: torch.optim.Optimizer, names: torch.nn.Module | Iterable[Any] | None
) -> Calibrations:
    """Return the calibrations of the parameters of all calibrated groups."""
    members = [(group, x) for group in optimizer.param_groups for x in group["params"]]
    called = all_names(optimizer, given_names(optimizer, names))
    found = Calibrations()
    for name, (group, x) in zip(called, members, strict=True):
        # Not optimizer.state[x], which would create a state.
        state = optimizer.state.get(x, {}).get(KEY)
        if state is not None and calibrates(group):
            found[name] = estimate(x, state)
    return found


def _cells(name: str, of: Calibration) -> tuple[str, ...]:
    return (
        ending(name),
        number(of.noise_alpha, ".2f"),
        number(of.noise_scale, ".3g"),
        number(of.alpha, ".2f"),
        "none" if of.is_sgd else number(of.momentum_knee, ".3g"),
        "none" if math.isinf(of.limit) else number(of.limit, ".3g"),
        number(of.beyond_knee, ".2%"),
    )
