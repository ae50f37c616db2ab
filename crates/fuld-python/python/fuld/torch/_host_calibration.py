"""Calibration of tensors on any device: samples of them are copied to the host.

The Rust crate updates the calibration states there. This waits for the device once per step.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fuld import _native
from fuld.torch._auto_settings import given
from fuld.torch._calibration import Calibration
from fuld.torch._calibration_state import numbers
from fuld.torch._layout import is_dense


def observe(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    calibrations: list[Tensor],
    group: dict[str, Any],
) -> list[Calibration]:
    """Update the calibrations of tensors of one device and return their estimates.

    Waits for the device. Without momentum there are no buffers.
    """
    lengths = [x.numel() for x in params]
    states = [numbers(*both) for both in zip(calibrations, lengths, strict=True)]
    positions = [_native.calibration_positions(*both) for both in zip(states, lengths, strict=True)]
    ends = list(accumulate(map(len, positions), initial=0))
    where = torch.from_numpy(np.concatenate(positions)).to(params[0].device, non_blocking=True)
    parts = [
        _in_order(x, tensor)[where[first:last]].float()
        # Without momentum the second is not read.
        for tensors in (grads, buffers or grads, params)
        for x, tensor, (first, last) in zip(params, tensors, pairwise(ends), strict=True)
    ]
    samples = torch.cat(parts).cpu().numpy().reshape(3, -1)
    motion = {
        "momentum": group["momentum"],
        "weight_decay": 0.0 if group["decoupled_weight_decay"] else group["weight_decay"],
        "nesterov": group["nesterov"],
        "maximize": group["maximize"],
        "alpha": given(group["alpha"]),
        "noise_scale": given(group["noise_scale"]),
    }
    found = []
    for state, length, (first, last) in zip(states, lengths, pairwise(ends), strict=True):
        state[:], estimates = _native.calibration_observe(
            state, length, *samples[:, first:last], **motion
        )
        found.append(Calibration(*estimates))
    return found


def _in_order(x: Tensor, tensor: Tensor) -> Tensor:
    """Return the numbers of a tensor in the order in which those of x lie in memory."""
    if not is_dense(x):
        return tensor.reshape(-1)
    if tensor.stride() != x.stride():
        tensor = torch.empty_like(x, dtype=tensor.dtype).copy_(tensor)
    return tensor.as_strided((x.numel(),), (1,))
