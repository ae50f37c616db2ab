"""Tensors that kernels may walk through as plain memory."""

from __future__ import annotations

import torch
from torch import Tensor


def is_dense(x: Tensor) -> bool:
    """Whether the numbers of x fill its memory without gaps, in whatever order of dimensions."""
    expected = 1
    for stride, size in sorted(zip(x.stride(), x.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


class Aligned:
    """Parameters, gradients and buffers, dense and of the parameters' dtype and order.

    What is not is copied; `close` brings the copies home. `contiguous` says that nothing had to be,
    and that all are in the order of their dimensions.
    """

    def __init__(self, params: list[Tensor], grads: list[Tensor], buffers: list[Tensor]) -> None:
        self._homes: list[tuple[Tensor, Tensor]] = []
        self.params, self.grads, self.buffers = params, grads, buffers
        dtype = params[0].dtype
        self.contiguous = all(
            x.is_contiguous() and x.dtype == dtype for x in (*params, *grads, *buffers)
        )
        if self.contiguous:
            return
        self.params = [x if is_dense(x) else self._copy(x, x.contiguous()) for x in params]
        self.grads = [self._like(x, g) for x, g in zip(self.params, grads, strict=True)]
        if buffers:
            self.buffers = [self._like(x, b) for x, b in zip(self.params, buffers, strict=True)]

    def close(self) -> None:
        """Copies back what was copied."""
        for home, copy in self._homes:
            home.copy_(copy)

    def _like(self, x: Tensor, other: Tensor) -> Tensor:
        if other.stride() == x.stride() and other.dtype == x.dtype:
            return other
        return self._copy(other, torch.empty_like(x).copy_(other))

    def _copy(self, home: Tensor, copy: Tensor) -> Tensor:
        self._homes.append((home, copy))
        return copy
