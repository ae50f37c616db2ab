"""What launches of kernels on CUDA share: tables in the device's memory, and CUDA graphs.

Under Triton's interpreter the tensors are those of the CPU, where there is neither a current
device nor a capture.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

import numpy as np
import torch
import triton.language as tl
from numpy.typing import NDArray
from torch import Tensor

from fuld.torch._fused_tensors import FusedTensors

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


def current(device: torch.device) -> AbstractContextManager[object]:
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@lru_cache(maxsize=64)
def work_of(lengths: tuple[int, ...], device: torch.device, chunk: int = CHUNK) -> Tensor:
    """Return tensor and chunk of every program."""
    refuse_capture()
    chunks = -(-np.array(lengths, dtype=np.int64) // chunk)
    tensors = np.repeat(np.arange(len(lengths)), chunks)
    first = np.repeat(np.cumsum(chunks) - chunks, chunks)
    pairs = np.stack([tensors, np.arange(len(tensors)) - first], axis=1).astype(np.int32)
    return torch.from_numpy(pairs).to(device)


def capturing() -> bool:
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def refuse_capture() -> None:
    if capturing():
        raise RuntimeError(
            "tables cannot be uploaded during the capture of a CUDA graph: take one step before it"
        )


# Tensors that captured graphs read: they must stay in place as long as a graph may be replayed.
_CAPTURED: list[Tensor] = []


def keep_if_captured(*tensors: Tensor) -> None:
    if capturing():
        _CAPTURED.extend(tensors)


def table_of(kept: FusedTensors) -> tuple[Tensor, bool]:
    """Return the table of addresses, reused if no gradient moved, and whether all are aligned."""
    if kept.uploaded is None or kept.uploaded_grads != kept.grad_addresses:
        table = np.array(kept.table(), dtype=np.int64)
        aligned = not (table[: kept.BULK] % 16).any()
        there = uploaded(table, kept.device)
        if capturing():
            return there, aligned
        kept.uploaded_grads, kept.uploaded, kept.aligned = kept.grad_addresses, there, aligned
    return kept.uploaded, kept.aligned


def uploaded(numbers: NDArray[np.int64], device: torch.device) -> Tensor:
    """Copy numbers to the device without waiting for it."""
    host = torch.from_numpy(numbers)
    if device.type == "cpu":
        return host
    host = host.pin_memory()
    keep_if_captured(host)
    return host.to(device, non_blocking=True)
