"""The guard over gradients on CUDA: a launch for decisions, and one that changes gradients.

The fused step of `FULD` takes the decisions and guards gradients in its own launch.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np
from torch import Tensor

from fuld.torch._field import wide
from fuld.torch._guard_decisions import CudaStates
from fuld.torch._guard_kernels import DensePart, addresses_of_rows
from fuld.torch._guard_triton import guard_gradients_kernel
from fuld.torch._launch import (
    NUMBERS,
    WARPS,
    capturing,
    current,
    keep_if_captured,
    uploaded,
    work_of,
)

#: Numbers per program, and per iteration of its loop; enough for several loads to overlap.
CHUNK, BLOCK = 1 << 14, 1 << 12


class CudaPart(DensePart):
    """Gradients in the memory of a GPU."""

    def __init__(self, grads: list[Tensor], rows: Tensor, numbers: list[int]) -> None:
        super().__init__(grads, rows, numbers)
        self._states = CudaStates(addresses_of_rows(rows, numbers), rows, self.dtype)
        self._where: tuple[Tensor, ...] = ()
        self._at: list[int] = []
        self._aligned = False

    def apply(
        self,
        grads: list[Tensor],
        clip: float,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None:
        """Update the states and change the gradients, unless the step will be skipped."""
        at = self.addresses_of(grads)
        if not any(self.lengths):
            return
        scale, skip = (None if t is None else t.to(self.device) for t in (grad_scale, found_inf))
        with current(self.device):
            work = work_of(self.lengths, self.device, CHUNK)
            if not self._where or at != self._at:
                where = uploaded(np.array([at, self.lengths], dtype=np.int64), self.device)
                self._where, self._aligned = (where, *where.unbind()), not reduce(or_, at) % 16
                # During a capture the copy is only recorded: the next step cannot use it.
                self._at = [] if capturing() else at
            where, gradients, lengths = self._where
            keep_if_captured(where, work)
            decisions = self._states.decide(gradients, lengths, clip, scale, skip)
            guard_gradients_kernel[(len(work),)](
                where, len(self.lengths), work, decisions, skip,
                NUMBER=NUMBERS[self.dtype], WIDE=NUMBERS[wide(self.dtype)], CHUNK=CHUNK,
                BLOCK=BLOCK, ALIGNED=self._aligned, FOUND=skip is not None, num_warps=WARPS,
            )  # fmt: skip
