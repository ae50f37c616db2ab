"""Where the field of an optimizer bends."""

from __future__ import annotations

from typing import Any

import torch

from fuld.torch._step import inner_factor


def bends(group: dict[str, Any]) -> bool:
    """Whether the optimizer of this parameter group has a field that may bend."""
    return {"alpha", "scale", "form"} <= group.keys()


def inverse_bend(group: dict[str, Any]) -> float | torch.Tensor:
    """Return 1/K, such that a buffer b is in the bent region where abs(b) > K."""
    alpha = float(group["alpha"])
    if alpha == 2:
        return 0.0
    momentum, scale = float(group["momentum"]), float(group["scale"])
    # Of the paper's form a tensor if lr is one, to be read by its device alone.
    return inner_factor(group["form"], alpha, momentum, scale, group["lr"])
