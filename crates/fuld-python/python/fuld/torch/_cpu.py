"""The step and the field over memory of this process: the rule of the Rust crate."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from fuld import _native
from fuld.torch._step import Step


@lru_cache(maxsize=64)
def _rule(alpha: float) -> _native.StepRule:
    return _native.StepRule(alpha)


def field_(tensors: list[Tensor], alpha: float) -> None:
    """∇G_α in place."""
    _rule(alpha).field(_dtype(tensors[0]), _addresses(tensors), [v.numel() for v in tensors])


def fused(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    step: Step,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """One pass over tensors of one dtype; without momentum there are no buffers."""
    if found_inf is not None and found_inf.item() != 0:
        return
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale.item())
    x = params
    _rule(step.alpha).step(
        _dtype(params[0]),
        _addresses(x),
        _addresses(buffers),
        _addresses(grads),
        [x.numel() for x in params],
        step.form,
        float(step.lr),
        step.momentum,
        step.scale,
        step.weight_decay,
        step.decoupled,
        step.nesterov,
        step.maximize,
    )


def _addresses(tensors: list[Tensor]) -> list[int]:
    addresses = [tensor.data_ptr() for tensor in tensors]
    if 0 in addresses:
        for tensor, address in zip(tensors, addresses, strict=True):
            if address == 0 and tensor.numel() > 0:
                raise RuntimeError(
                    f"there is no fused step for a {type(tensor).__name__}, which has no memory of "
                    "its own: use fused=False"
                )
    return addresses


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
