"""The guard over gradients on CUDA: one launch for statistics and decisions, one for gradients."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from fuld.torch._cuda import (
    BLOCK,
    CHUNK,
    NUMBERS,
    WARPS,
    current,
    keep_if_captured,
    refuse_capture,
    uploaded,
    work_of,
)
from fuld.torch._field import wide
from fuld.torch._guard_kernels import DensePart
from fuld.torch._guard_rule import BURST, SAMPLE, WEIGHT
from fuld.torch._guard_triton import guard_decisions_kernel, guard_gradients_kernel


class CudaPart(DensePart):
    """Gradients in the memory of a GPU."""

    def __init__(self, grads: list[Tensor], rows: Tensor, numbers: list[int]) -> None:
        super().__init__(grads, rows, numbers)
        refuse_capture()
        count = len(numbers)
        self._numbers = torch.tensor(numbers, dtype=torch.int32, device=self.device)
        self._decisions = torch.empty(count, 2, dtype=torch.float64, device=self.device)
        self._where: Tensor | None = None
        self._at: list[int] = []
        info = torch.finfo(wide(self.dtype))
        self._normal = (info.tiny, info.max)

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
        count = len(self.lengths)
        with current(self.device):
            work = work_of(self.lengths, self.device)
            if self._where is None or at != self._at:
                self._where = uploaded(np.array([at, self.lengths], dtype=np.int64), self.device)
                self._at = at
            where = self._where
            keep_if_captured(where, work, self._numbers, self._decisions, self.rows)
            guard_decisions_kernel[(count,)](
                where, count, self.rows, self._numbers, self._decisions, scale, skip,
                float(clip), BURST, WEIGHT, *self._normal,
                NUMBER=NUMBERS[self.dtype], WIDE=NUMBERS[wide(self.dtype)], BLOCK=BLOCK,
                SAMPLE=SAMPLE, SCALED=scale is not None, FOUND=skip is not None, num_warps=WARPS,
            )  # fmt: skip
            guard_gradients_kernel[(len(work),)](
                where, count, work, self._decisions, skip,
                NUMBER=NUMBERS[self.dtype], WIDE=NUMBERS[wide(self.dtype)], CHUNK=CHUNK,
                BLOCK=BLOCK, FOUND=skip is not None, num_warps=WARPS,
            )  # fmt: skip
