"""A few coordinates of a tensor, spread over it."""

from __future__ import annotations

import math

import torch

from fuld.torch._layout import is_dense


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


def every(tensor: torch.Tensor, step: int, count: int) -> torch.Tensor:
    """Return every `step`-th coordinate in the order of memory, as a view where that is dense."""
    if step == 1 and tensor.is_contiguous():
        return tensor.view(-1)
    if not is_dense(tensor):
        tensor = tensor.contiguous()
    return tensor.as_strided((count,), (step,))
