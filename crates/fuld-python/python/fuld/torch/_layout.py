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


def is_readable(x: Tensor) -> bool:
    """Whether the memory of x holds its values, at aligned addresses."""
    return not x.is_neg() and x.data_ptr() % x.element_size() == 0


class Aligned:
    """Parameters, gradients and buffers, dense and of the parameters' dtype and order.

    Others are copied, and `close` copies them back. `contiguous` is true if nothing was copied and
    all tensors are in the order of their dimensions.
    """

    def __init__(self, params: list[Tensor], grads: list[Tensor], buffers: list[Tensor]) -> None:
        for x, g in zip(params, grads, strict=True):
            _refuse_other_size(x, g, "gradient")
        for x, b in zip(params, buffers, strict=bool(buffers)):
            _refuse_other_size(x, b, "momentum_buffer")
        self._homes: list[tuple[Tensor, Tensor]] = []
        self._grad_homes: list[tuple[Tensor, Tensor]] = []
        self.params, self.grads, self.buffers = params, grads, buffers
        dtype = params[0].dtype
        self.contiguous = all(
            x.is_contiguous() and x.dtype == dtype and is_readable(x)
            for x in (*params, *grads, *buffers)
        )
        if self.contiguous:
            return
        self.params = [
            x if is_dense(x) and is_readable(x) else self._copy(x, x.clone().contiguous())
            for x in params
        ]
        self.grads = [
            self._like(x, g, self._grad_homes) for x, g in zip(self.params, grads, strict=True)
        ]
        if buffers:
            self.buffers = [
                self._like(x, b, self._homes) for x, b in zip(self.params, buffers, strict=True)
            ]

    def close(self, unscaled: bool) -> None:
        """Copies back what was copied; gradients only if they were unscaled."""
        for home, copy in self._homes + (self._grad_homes if unscaled else []):
            home.copy_(copy)

    def _like(self, x: Tensor, other: Tensor, homes: list[tuple[Tensor, Tensor]]) -> Tensor:
        if other.stride() == x.stride() and other.dtype == x.dtype and is_readable(other):
            return other
        copy = torch.empty_like(x).copy_(other)
        homes.append((other, copy))
        return copy

    def _copy(self, home: Tensor, copy: Tensor) -> Tensor:
        self._homes.append((home, copy))
        return copy


def _refuse_other_size(x: Tensor, other: Tensor, name: str) -> None:
    if other.shape != x.shape:
        raise RuntimeError(
            f"a parameter of shape {tuple(x.shape)} has a {name} of shape {tuple(other.shape)}: "
            "is the checkpoint that of another model?"
        )
    if other.device != x.device:
        raise RuntimeError(
            f"a parameter on {x.device} has a {name} on {other.device}: move the model before "
            "the optimizer is made, or load the optimizer's state again"
        )
