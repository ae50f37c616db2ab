"""The guard's statistics and decisions on CUDA: one launch over all tensors."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from fuld.torch._field import wide
from fuld.torch._fused_tensors import FusedTensors
from fuld.torch._guard_rule import BURST, RUN, SAMPLE, WEIGHT
from fuld.torch._guard_triton import guard_decisions_kernel
from fuld.torch._launch import BLOCK, NUMBERS, WARPS, keep_if_captured, refuse_capture, uploaded


class CudaStates:
    """The addresses of a guard's states on a GPU, and what was decided about the last gradients."""

    def __init__(self, states: list[int], owner: Tensor, dtype: torch.dtype) -> None:
        refuse_capture()
        # One of the states: they share memory, which a captured graph must keep.
        self._owner, device = owner, owner.device
        self._states = uploaded(np.array(states, dtype=np.int64), device)
        self._decisions = torch.empty(len(states), 2, dtype=torch.float64, device=device)
        self._dtype = dtype
        info = torch.finfo(wide(dtype))
        self._normal = (info.tiny, info.max)

    @classmethod
    def within(cls, kept: FusedTensors) -> CudaStates:
        """Return the guard within the step of these tensors."""
        if not isinstance(kept.guarded, cls):
            kept.guarded = cls(kept.guard_addresses, kept.guard_states[0], kept.dtype)
        return kept.guarded

    def decide(
        self,
        gradients: Tensor,
        lengths: Tensor,
        clip: float,
        scale: Tensor | None,
        skip: Tensor | None,
        counters: Tensor | None = None,
    ) -> Tensor:
        """Update the states, unless the step will be skipped; return factors and limits.

        The first two arguments are addresses and lengths of gradients on the GPU. `counters` are
        addresses of numbers of steps, which increase by 1.
        """
        keep_if_captured(self._owner, self._states, self._decisions)
        guard_decisions_kernel[(len(self._states),)](
            gradients, lengths, self._states, self._decisions, counters, scale, skip,
            float(clip), BURST, WEIGHT, *self._normal,
            NUMBER=NUMBERS[self._dtype], WIDE=NUMBERS[wide(self._dtype)], BLOCK=BLOCK,
            SAMPLE=SAMPLE, RUN=RUN, COUNTED=counters is not None, SCALED=scale is not None,
            FOUND=skip is not None, num_warps=WARPS,
        )  # fmt: skip
        return self._decisions
