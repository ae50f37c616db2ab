"""Where the field of an optimizer bends."""

from __future__ import annotations

from typing import Any

import torch

from fuld.torch._calibration import Calibration
from fuld.torch._calibration_state import KEY, reading
from fuld.torch._step import inner_factor


def bends(group: dict[str, Any]) -> bool:
    """Whether the optimizer of this parameter group has a field that may bend."""
    return {"alpha", "scale", "form"} <= group.keys()


def inverse_bends(
    optimizer: torch.optim.Optimizer, group: dict[str, Any], params: list[torch.Tensor]
) -> list[float]:
    """Return 1/K of parameters of a group that calibrates itself, 0 where nothing bends."""
    known = [optimizer.state.get(x, {}).get(KEY) for x in params]
    found = [None if of is None else reading(x, of) for x, of in zip(params, known, strict=True)]
    return [0.0 if of is None or not _bent(of, group) else 1 / of.bend for of in found]


def _bent(of: Calibration, group: dict[str, Any]) -> bool:
    """Whether a coordinate can be beyond the bend: without momentum only within the limit."""
    return not of.is_straight and (group["momentum"] != 0 or of.limit > of.bend)


def inverse_bend(group: dict[str, Any]) -> float | torch.Tensor:
    """Return 1/K, such that a buffer b is in the bent region where abs(b) > K."""
    alpha = float(group["alpha"])
    if alpha == 2:
        return 0.0
    momentum, scale = float(group["momentum"]), float(group["scale"])
    # Of the paper's form a tensor if lr is one, to be read by its device alone.
    return inner_factor(group["form"], alpha, momentum, scale, group["lr"])
