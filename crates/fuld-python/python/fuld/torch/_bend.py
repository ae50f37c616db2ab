"""Where the field of an optimizer bends."""

from __future__ import annotations

from typing import Any

import torch

from fuld import _native


def bends(group: dict[str, Any]) -> bool:
    """Whether the optimizer of this parameter group has a field that may bend."""
    return {"alpha", "scale", "form"} <= group.keys()


def inverse_bend(group: dict[str, Any]) -> float | torch.Tensor:
    """Return 1/K, such that a buffer b is in the bent region where abs(b) > K."""
    alpha = float(group["alpha"])
    if alpha == 2:
        return 0.0
    momentum, scale = float(group["momentum"]), float(group["scale"])
    inner, _ = _native.step_factors(group["form"], alpha, momentum, scale)
    if group["form"] == "paper":
        # Its coordinates are v = -sqrt(lr) b. A tensor stays one, to be read by its device alone.
        lr = group["lr"]
        return inner * (lr.sqrt() if isinstance(lr, torch.Tensor) else lr**0.5)
    return inner
