"""The step and the field of tensors in CPU memory, computed by the Rust crate in place."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from fuld import _native
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._step import Step


@lru_cache(maxsize=64)
def _rule(alpha: float) -> _native.StepRule:
    return _native.StepRule(alpha)


def field_(tensors: list[Tensor], alpha: float) -> None:
    """∇G_α in place."""
    _rule(alpha).field(
        dtype_name(tensors[0]),
        addresses(tensors),
        [v.numel() for v in tensors],
        torch.get_num_threads(),
    )


def fused(
    kept: FusedTensors,
    grads: list[Tensor],
    step: Step,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Take a step in one pass over the tensors; without momentum there are no buffers."""
    if found_inf is not None and found_inf.item() != 0:
        return
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale.item())
    _rule(step.alpha).step(
        dtype_name(kept.params[0]),
        kept.param_addresses,
        kept.buffer_addresses,
        kept.grad_addresses,
        kept.lengths,
        float(step.lr),
        step.momentum,
        step.noise_scale,
        step.beta,
        step.weight_decay,
        step.decoupled,
        step.nesterov,
        step.maximize,
        torch.get_num_threads(),
        None if step.clip is None else (guarded_tensors(kept), step.clip),
    )


def guarded_tensors(kept: FusedTensors) -> _native.GuardedTensors:
    """Return the guard within the step."""
    if not isinstance(kept.guarded, _native.GuardedTensors):
        kept.guarded = _native.GuardedTensors(kept.guard_addresses, kept.lengths)
    return kept.guarded


def dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
