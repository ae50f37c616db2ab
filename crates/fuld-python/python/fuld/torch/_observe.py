"""Calibration of tensors wherever they are: a few of their numbers are brought to the host."""

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
    """How the step of each of these tensors, of one device, is to be taken; this waits for it.

    Without momentum there are no buffers.
    """
    lengths = [x.numel() for x in params]
    known = [numbers(*both) for both in zip(calibrations, lengths, strict=True)]
    places = [_native.calibration_places(*both) for both in zip(known, lengths, strict=True)]
    ends = list(accumulate(map(len, places), initial=0))
    where = torch.from_numpy(np.concatenate(places)).to(params[0].device, non_blocking=True)
    parts = [
        _in_order(x, tensor)[where[first:last]].float()
        # Without momentum nobody reads the second.
        for tensors in (grads, buffers or grads, params)
        for x, tensor, (first, last) in zip(params, tensors, pairwise(ends), strict=True)
    ]
    seen = torch.cat(parts).cpu().numpy().reshape(3, -1)
    motion = {
        "momentum": group["momentum"],
        "weight_decay": 0.0 if group["decoupled_weight_decay"] else group["weight_decay"],
        "nesterov": group["nesterov"],
        "maximize": group["maximize"],
        "alpha": given(group["alpha"]),
        "scale": given(group["scale"]),
    }
    found = []
    for of, length, (first, last) in zip(known, lengths, pairwise(ends), strict=True):
        of[:], says = _native.calibration_observe(of, length, *seen[:, first:last], **motion)
        found.append(Calibration(*says))
    return found


def _in_order(x: Tensor, tensor: Tensor) -> Tensor:
    """The numbers of a tensor one after another, in the order in which x has its own in memory."""
    if not is_dense(x):
        return tensor.reshape(-1)
    if tensor.stride() != x.stride():
        tensor = torch.empty_like(x, dtype=tensor.dtype).copy_(tensor)
    return tensor.as_strided((x.numel(),), (1,))
