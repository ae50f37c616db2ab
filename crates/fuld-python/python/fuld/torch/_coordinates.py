"""A few coordinates of a tensor, spread over it."""

from __future__ import annotations

import math

import torch


def stride(numel: int, most: int) -> int:
    """Return the step from one coordinate to the next that takes at most `most` of `numel`.

    It has no divisor in common with `numel`, for else it might meet the same few columns of a
    matrix in every row.
    """
    step = max(1, -(-numel // most))
    while math.gcd(step, numel) > 1:
        step += 1
    return step


def taken(numel: int, step: int) -> int:
    """Return how many coordinates that are."""
    return -(-numel // step)


def local(tensor: torch.Tensor) -> torch.Tensor:
    """Return the real numbers of a tensor that this process holds: of a sharded one, its shard."""
    to_local = getattr(tensor, "to_local", None)
    if to_local is not None:
        tensor = to_local()
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def every(tensor: torch.Tensor, step: int, count: int) -> torch.Tensor:
    """Return every `step`-th coordinate in the order of memory, as a view where that is dense."""
    if step == 1 and tensor.is_contiguous():
        return tensor.view(-1)
    if not _dense(tensor):
        tensor = tensor.contiguous()
    return tensor.as_strided((count,), (step,))


def _dense(tensor: torch.Tensor) -> bool:
    """Whether the tensor fills a stretch of memory, in whatever order of its dimensions."""
    if tensor.is_contiguous():
        return True
    expected = 1
    for size, gap in sorted(zip(tensor.shape, tensor.stride(), strict=True), key=lambda d: d[1]):
        if size != 1:
            if gap != expected:
                return False
            expected *= size
    return True
