"""The launch of Adam's step with the guard inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from fuld.torch._adam_triton import adam_kernel
from fuld.torch._field import wide
from fuld.torch._guard_decisions import CudaStates
from fuld.torch._launch import (
    BLOCK,
    CHUNK,
    NUMBERS,
    WARPS,
    current,
    keep_if_captured,
    table_of,
    work_of,
)

if TYPE_CHECKING:
    from fuld.torch._guarded_adam import AdamTensors


def step(
    kept: AdamTensors,
    group: dict[str, Any],
    clip: float,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Count the steps, decide about the gradients, and take the step."""
    device, dtype, lr = kept.device, kept.dtype, group["lr"]
    if isinstance(lr, Tensor) and lr.device != device:
        # In the memory of the host: reading it does not wait for the device.
        lr = lr.item() if lr.device.type == "cpu" else lr.to(device)
    scale, skip = (None if t is None else t.to(device) for t in (grad_scale, found_inf))
    tensor_lr = isinstance(lr, Tensor)
    with current(device):
        work = work_of(kept.lengths, device)
        where, aligned = table_of(kept)
        keep_if_captured(where, work)
        guard = CudaStates.within(kept)
        decisions = guard.decide(where[1], where[5], clip, scale, skip, where[4])
        if not len(work):
            return
        adam_kernel[(len(work),)](
            where, len(kept.lengths), work, decisions, lr if tensor_lr else None, scale, skip,
            0.0 if tensor_lr else float(lr), *map(float, group["betas"]), float(group["eps"]),
            float(group["weight_decay"]),
            NUMBER=NUMBERS[dtype], WIDE=NUMBERS[wide(dtype)], CHUNK=CHUNK, BLOCK=BLOCK,
            ALIGNED=aligned, TENSOR_LR=tensor_lr, DECAYED=group["weight_decay"] != 0,
            DECOUPLED=bool(group["decoupled_weight_decay"]), MAXIMIZE=bool(group["maximize"]),
            SCALED=scale is not None, FOUND=skip is not None, num_warps=WARPS,
        )  # fmt: skip
