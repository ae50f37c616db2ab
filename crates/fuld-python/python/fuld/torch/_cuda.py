"""The step and the field on CUDA: one launch over all tensors of one device and dtype."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from fuld.torch._field import pieces, wide
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._guard_decisions import CudaStates
from fuld.torch._launch import (
    BLOCK,
    CHUNK,
    NUMBERS,
    WARPS,
    current,
    keep_if_captured,
    refuse_capture,
    table_of,
    uploaded,
    work_of,
)
from fuld.torch._step import Step
from fuld.torch._triton import field_kernel, step_kernel


def field_(tensors: list[Tensor], alpha: float) -> None:
    """Replace v by ∇G_α(v) in tensors of float32 or float64."""
    device, dtype = tensors[0].device, tensors[0].dtype
    lengths = tuple(v.numel() for v in tensors)
    if not any(lengths):
        return
    table = _DeviceField.of(alpha, device, dtype)
    with current(device):
        work = work_of(lengths, device)
        where = uploaded(np.array([addresses(tensors), lengths], dtype=np.int64), device)
        keep_if_captured(where, work, *table.tensors)
        field_kernel[(len(work),)](
            where, len(tensors), work, *table.tensors, *table.numbers,
            NUMBER=NUMBERS[dtype], CHUNK=CHUNK, BLOCK=BLOCK, num_warps=WARPS,
        )  # fmt: skip


def fused(
    kept: FusedTensors,
    grads: list[Tensor],
    step: Step,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Take a step in one pass over the tensors; without momentum there are no buffers."""
    if not any(kept.lengths):
        return
    device, dtype = kept.device, kept.dtype
    # At alpha = 2 the step is SGD's in both forms.
    linear = step.alpha == 2
    inner, outer = (1.0, 1.0) if linear else step.factors
    lr = step.lr
    if isinstance(lr, Tensor) and lr.device != device:
        # In the memory of the host: reading it does not wait for the device.
        lr = lr.item() if lr.device.type == "cpu" else lr.to(device)
    table = _DeviceField.of(step.alpha, device, wide(dtype))
    with current(device):
        work = work_of(kept.lengths, device)
        where, aligned = table_of(kept)
        keep_if_captured(where, work, *table.tensors)
        decisions = None
        if step.clip is not None:
            decisions = CudaStates.within(kept).decide(
                where[1], where[3], step.clip, grad_scale, found_inf
            )
        step_kernel[(len(work),)](
            where, len(kept.lengths), work, *table.tensors,
            lr if isinstance(lr, Tensor) else None, grad_scale, found_inf, decisions,
            *table.numbers, inner, outer,
            0.0 if isinstance(lr, Tensor) else lr, step.momentum, step.weight_decay,
            NUMBER=NUMBERS[dtype], WIDE=NUMBERS[wide(dtype)], CHUNK=CHUNK, BLOCK=BLOCK,
            ALIGNED=aligned, PAPER=step.form == "paper" and not linear,
            TENSOR_LR=isinstance(lr, Tensor), LINEAR=linear, GUARDED=decisions is not None,
            MOMENTUM=step.momentum != 0, NESTEROV=step.nesterov, MAXIMIZE=step.maximize,
            PULLED=step.pull != 0, DECOUPLED=step.decoupled,
            SCALED=grad_scale is not None, FOUND=found_inf is not None, num_warps=WARPS,
        )  # fmt: skip


@dataclass(frozen=True)
class _DeviceField:
    """Arguments of the kernels that describe the field."""

    tensors: tuple[Tensor, Tensor]
    numbers: tuple[float, float, int, int]

    @staticmethod
    @lru_cache(maxsize=64)
    def of(alpha: float, device: torch.device, dtype: torch.dtype) -> _DeviceField:
        """Return the field in float32 or float64."""
        refuse_capture()
        table = pieces(alpha, device, dtype)
        return _DeviceField(
            (table.packed, table.coefficients),
            (table.shift, table.near, table.lowest, len(table.octaves) - 1),
        )
