"""The guard over dense gradients of one device and dtype: Rust on the CPU, Triton on CUDA."""

from __future__ import annotations

from functools import reduce
from operator import attrgetter, or_
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from fuld import _native
from fuld.torch._fused_tensors import addresses
from fuld.torch._guard_rule import NUMBERS
from fuld.torch._kernels import PLAIN

if TYPE_CHECKING:
    from fuld.torch._guard_cuda import CudaPart


class DensePart:
    """Dense gradients of one device and dtype, and the states of their guard.

    `rows` holds the states of all parameters of the device, and `numbers` the rows of these.
    """

    def __init__(self, grads: list[Tensor], rows: Tensor, numbers: list[int]) -> None:
        self.rows, self.numbers = rows, numbers
        self.device, self.dtype = grads[0].device, grads[0].dtype
        self.lengths = tuple(g.numel() for g in grads)
        self._bytes = [g.nbytes for g in grads]
        self._strides = [g.stride() for g in grads]
        self._addresses: list[int] = []

    def fits(self, grads: list[Tensor]) -> bool:
        """Return whether these gradients have the same layout."""
        # Every check takes time for thousands of tensors. The sign bit of a view is not checked,
        # since the guard is symmetric.
        if not (
            grads[0].device == self.device
            and set(map(type, grads)) <= {*PLAIN}
            and (all(map(Tensor.is_contiguous, grads)) or self._have_strides(grads))
            and list(map(attrgetter("nbytes"), grads)) == self._bytes
            and (self.dtype.itemsize != 2 or all(g.dtype == self.dtype for g in grads))
        ):
            return False
        self._addresses = addresses(grads)
        return not reduce(or_, self._addresses) % self.dtype.itemsize

    def _have_strides(self, grads: list[Tensor]) -> bool:
        return all(
            g.layout is torch.strided and g.stride() == stride
            for g, stride in zip(grads, self._strides, strict=True)
        )

    def addresses_of(self, grads: list[Tensor]) -> list[int]:
        """Return the addresses of the gradients, once after they were checked."""
        found, self._addresses = self._addresses or addresses(grads), []
        return found


class CpuPart(DensePart):
    """Gradients in CPU memory."""

    def __init__(self, grads: list[Tensor], rows: Tensor, numbers: list[int]) -> None:
        super().__init__(grads, rows, numbers)
        self._native = _native.GuardedTensors(addresses_of_rows(rows, numbers), self.lengths)
        self._name = str(self.dtype).removeprefix("torch.")

    def apply(
        self,
        grads: list[Tensor],
        clip: float,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None:
        """Update the states and change the gradients, unless the step will be skipped."""
        if found_inf is not None and found_inf.item() != 0:
            return
        self._native.apply(
            self._name,
            self.addresses_of(grads),
            clip,
            1.0 if grad_scale is None else grad_scale.item(),
            torch.get_num_threads(),
        )


def addresses_of_rows(rows: Tensor, numbers: list[int]) -> list[int]:
    """Return the addresses of states."""
    start, row = rows.data_ptr(), NUMBERS * rows.element_size()
    return [start + row * i for i in numbers]


def dense_part(grads: list[Tensor], rows: Tensor, numbers: list[int]) -> CpuPart | CudaPart:
    """Return the gradients with the kernel of their device."""
    if rows.device.type == "cpu":
        return CpuPart(grads, rows, numbers)
    from fuld.torch._guard_cuda import CudaPart

    return CudaPart(grads, rows, numbers)
