"""The momentum knee of an optimizer: where its field has its knee, in units of the momentum buffer.

Below the knee the step of FULD is that of SGD; beyond it the step decreases as 1/b. The tail
monitor divides the momentum buffer by the momentum knee to count the coordinates beyond it.
"""

from __future__ import annotations

from typing import Any

import torch

from fuld.torch._calibration import Calibration
from fuld.torch._calibration_state import KEY, estimate
from fuld.torch._step import inner_factor, knee_settings


def has_knee(group: dict[str, Any]) -> bool:
    """Whether the optimizer of this parameter group has a field with a knee."""
    return {"alpha", "form"} <= group.keys() and not {"noise_scale", "beta"}.isdisjoint(group)


def inverse_knees(
    optimizer: torch.optim.Optimizer, group: dict[str, Any], params: list[torch.Tensor]
) -> list[float]:
    """Return 1/momentum_knee of parameters of a calibrated group, 0 where there is no knee."""
    states = [optimizer.state.get(x, {}).get(KEY) for x in params]
    found = [None if s is None else estimate(x, s) for x, s in zip(params, states, strict=True)]
    return [
        0.0 if of is None or not _reachable(of, group) else 1 / of.momentum_knee for of in found
    ]


def _reachable(of: Calibration, group: dict[str, Any]) -> bool:
    """Whether a coordinate can be beyond the knee: without momentum only if the limit is."""
    return not of.is_sgd and (group["momentum"] != 0 or of.limit > of.momentum_knee)


def inverse_knee(group: dict[str, Any]) -> float | torch.Tensor:
    """Return 1/momentum_knee; a buffer b is beyond the knee where abs(b) > momentum_knee."""
    alpha = float(group["alpha"])
    if alpha == 2:
        return 0.0
    # In the paper's form a tensor if lr is one: reading it here would wait for its device.
    return inner_factor(alpha, float(group["momentum"]), *knee_settings(group), group["lr"])
