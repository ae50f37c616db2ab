"""The momentum knee of an optimizer: where its field has its knee, in units of the momentum buffer.

Below the knee the step of FULD is that of SGD; beyond it the step decreases as 1/b. The tail
monitor divides the momentum buffer by the momentum knee to count the coordinates beyond it.
"""

from __future__ import annotations

from typing import Any

import torch

from fuld.torch._step import inner_factor, knee_settings


def has_knee(group: dict[str, Any]) -> bool:
    """Whether the optimizer of this parameter group has a field with a knee."""
    return {"alpha", "form"} <= group.keys() and not {"noise_scale", "beta"}.isdisjoint(group)


def inverse_knee(group: dict[str, Any]) -> float | torch.Tensor:
    """Return 1/momentum_knee; a buffer b is beyond the knee where abs(b) > momentum_knee."""
    alpha = float(group["alpha"])
    if alpha == 2:
        return 0.0
    # In the paper's form a tensor if lr is one: reading it here would wait for its device.
    return inner_factor(alpha, float(group["momentum"]), *knee_settings(group), group["lr"])
