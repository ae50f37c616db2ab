"""The step and the field on CUDA: one launch over all tensors of one device and dtype.

Under Triton's interpreter the tensors are those of the CPU, where there is neither a current
device nor a capture.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
import triton.language as tl
from numpy.typing import NDArray
from torch import Tensor

from fuld.torch._field import pieces, wide
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._step import Step
from fuld.torch._triton import field_kernel, step_kernel

CHUNK = 1 << 12
"""Numbers per program."""
BLOCK = 1 << 10
"""Numbers that a program handles at a time."""
WARPS = 8
"""Warps per program."""

NUMBERS = {
    torch.float64: tl.float64,
    torch.float32: tl.float32,
    torch.bfloat16: tl.bfloat16,
    torch.float16: tl.float16,
}


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
    inner, outer = step.factors
    lr = step.lr
    if isinstance(lr, Tensor) and lr.device != device:
        # In the memory of the host: reading it does not wait for the device.
        lr = lr.item() if lr.device.type == "cpu" else lr.to(device)
    table = _DeviceField.of(step.alpha, device, wide(dtype))
    with current(device):
        work = work_of(kept.lengths, device)
        where, aligned = _where(kept)
        keep_if_captured(where, work, *table.tensors)
        step_kernel[(len(work),)](
            where, len(kept.lengths), work, *table.tensors,
            lr if isinstance(lr, Tensor) else None, grad_scale, found_inf,
            *table.numbers, inner, outer,
            0.0 if isinstance(lr, Tensor) else lr, step.momentum, step.weight_decay,
            NUMBER=NUMBERS[dtype], WIDE=NUMBERS[wide(dtype)], CHUNK=CHUNK, BLOCK=BLOCK,
            ALIGNED=aligned, PAPER=step.form == "paper", TENSOR_LR=isinstance(lr, Tensor),
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


def current(device: torch.device) -> AbstractContextManager[object]:
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@lru_cache(maxsize=64)
def work_of(lengths: tuple[int, ...], device: torch.device) -> Tensor:
    """Return tensor and chunk of every program."""
    refuse_capture()
    chunks = -(-np.array(lengths, dtype=np.int64) // CHUNK)
    tensors = np.repeat(np.arange(len(lengths)), chunks)
    first = np.repeat(np.cumsum(chunks) - chunks, chunks)
    pairs = np.stack([tensors, np.arange(len(tensors)) - first], axis=1).astype(np.int32)
    return torch.from_numpy(pairs).to(device)


def _capturing() -> bool:
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def refuse_capture() -> None:
    if _capturing():
        raise RuntimeError(
            "tables cannot be uploaded during the capture of a CUDA graph: take one step before it"
        )


# Tensors that captured graphs read: they must stay in place as long as a graph may be replayed.
_CAPTURED: list[Tensor] = []


def keep_if_captured(*tensors: Tensor) -> None:
    if _capturing():
        _CAPTURED.extend(tensors)


def _where(kept: FusedTensors) -> tuple[Tensor, bool]:
    """Return the matrix of addresses, reused if no gradient moved, and whether all are aligned."""
    grads = kept.grad_addresses
    if kept.uploaded is None or kept.uploaded_grads != grads:
        buffers = kept.buffer_addresses or kept.param_addresses
        table = np.array([kept.param_addresses, grads, buffers, kept.lengths], dtype=np.int64)
        aligned = not (table[:3] % 16).any()
        there = uploaded(table, kept.device)
        if _capturing():
            return there, aligned
        kept.uploaded_grads, kept.uploaded, kept.aligned = grads, there, aligned
    return kept.uploaded, kept.aligned


def uploaded(numbers: NDArray[np.int64], device: torch.device) -> Tensor:
    """Copy numbers to the device without waiting for it."""
    host = torch.from_numpy(numbers)
    if device.type == "cpu":
        return host
    host = host.pin_memory()
    keep_if_captured(host)
    return host.to(device, non_blocking=True)
