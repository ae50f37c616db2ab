"""Which implementation takes a step, and the step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fuld.torch._foreach import multi_tensor
from fuld.torch._fused_tensors import FusedTensors
from fuld.torch._kernels import PLAIN, fused, has_kernel
from fuld.torch._single_tensor import single_tensor
from fuld.torch._step import Step


def update(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    group: dict[str, Any],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    guard_states: list[Tensor] | None = None,
) -> FusedTensors | None:
    """Takes a step of plain real tensors for alpha < 2; without momentum there are no buffers.

    With `guard_states`, the guard's states, gradients are guarded in the step, which must be fused;
    alpha may be 2 then. Returns the tensors of a fused step, if they are of one kind.
    """
    step = Step.of(group, None if guard_states is None else group["guard"])
    way = choose(group, params)
    if way == "single":
        single_tensor(params, grads, buffers, step, group["differentiable"])
        return None
    fused_tensors = [
        take(
            way,
            [params[i] for i in which],
            [grads[i] for i in which],
            [buffers[i] for i in which] if buffers else [],
            step,
            grad_scale,
            found_inf,
            guard_states and [guard_states[i] for i in which],
        )
        for which in kinds(params)
    ]
    return fused_tensors[0] if len(fused_tensors) == 1 else None


def take(
    way: str,
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    step: Step,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    guard_states: list[Tensor] | None = None,
) -> FusedTensors | None:
    """Takes a step of tensors of one device and dtype in one way; returns those of a fused one."""
    if way == "fused":
        return fused(params, grads, buffers, step, grad_scale, found_inf, guard_states)
    if way == "foreach":
        multi_tensor(params, grads, buffers, step)
    else:
        single_tensor(params, grads, buffers, step, differentiable=False)
    return None


def may_fuse(group: dict[str, Any], kept: FusedTensors) -> bool:
    """Whether a group with kept tensors still takes fused steps."""
    asked = _asked(group)
    fused_by_default = asked is None and kept.device.type == "cpu"
    guarded = group["guard"] is not None
    return (asked == "fused" or fused_by_default) and (group["alpha"] != 2 or guarded)


def may_guard(group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> bool:
    """Whether the step of a group can guard gradients itself, because it will be fused."""
    asked = _asked(group)
    return (
        asked in (None, "fused")
        and not torch.compiler.is_compiling()
        and 0 <= group["momentum"] < 1
        and all(type(x) in PLAIN and has_kernel(x) for x in params)
        and (asked == "fused" or all(x.device.type == "cpu" for x in params))
        and all(g.layout is torch.strided for g in grads)
    )


def _asked(group: dict[str, Any]) -> str | None:
    """What the settings ask for; None if they leave it to what the tensors are."""
    if group["differentiable"]:
        return "single"
    if group["fused"]:
        return "fused"
    if group["foreach"]:
        return "foreach"
    return None if group["foreach"] is None and group["fused"] is None else "single"


def choose(group: dict[str, Any], params: list[Tensor]) -> str:
    """Which of "single", "foreach" and "fused" it is to be."""
    asked = _asked(group)
    if asked is None:
        if all(type(x) in PLAIN and x.device.type == "cuda" for x in params):
            return "foreach"
        if not torch.compiler.is_compiling() and all(
            type(x) in PLAIN and x.device.type == "cpu" and has_kernel(x) for x in params
        ):
            return "fused"
    return asked or "single"


def kinds(params: list[Tensor]) -> list[list[int]]:
    """The numbers of the tensors of each device and dtype."""
    found: dict[tuple[torch.device, torch.dtype], list[int]] = {}
    for i, x in enumerate(params):
        found.setdefault((x.device, x.dtype), []).append(i)
    return list(found.values())
