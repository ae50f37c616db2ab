"""The step and the field of tensors in CPU memory, computed by the Rust crate in place."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from fuld import _native
from fuld.torch._auto_settings import given
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._learning_rate import check_lr
from fuld.torch._step import Step


@lru_cache(maxsize=64)
def _rule(alpha: float) -> _native.StepRule:
    return _native.StepRule(alpha)


@lru_cache(maxsize=64)
def _auto_rule(alpha: float | None) -> _native.AutoStep:
    return _native.AutoStep(alpha)


def field_(tensors: list[Tensor], alpha: float) -> None:
    """∇G_α in place."""
    _rule(alpha).field(
        _dtype(tensors[0]),
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
        _dtype(kept.params[0]),
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
    )


def calibrated(kept: FusedTensors, group: dict[str, Any]) -> list[int]:
    """Update the calibrations, then take the step of all tensors whose field has a knee.

    Returns the indices of the other tensors, whose step is SGD's and is not taken here.
    """
    if not isinstance(group["lr"], Tensor):
        check_lr(group["lr"])
    return _auto_rule(given(group["alpha"])).step(
        _dtype(kept.params[0]),
        kept.param_addresses,
        kept.buffer_addresses,
        kept.grad_addresses,
        kept.lengths,
        kept.calibration_addresses,
        float(group["lr"]),
        group["momentum"],
        given(group["noise_scale"]),
        group["weight_decay"],
        group["decoupled_weight_decay"],
        group["nesterov"],
        group["maximize"],
        torch.get_num_threads(),
    )


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
