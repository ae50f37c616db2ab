"""The step as one operation over many tensors after another."""

from __future__ import annotations

import torch
from torch import Tensor

from fuld.torch._field import wide
from fuld.torch._kernels import field_
from fuld.torch._step import Step


def multi_tensor(
    params: list[Tensor], grads: list[Tensor], buffers: list[Tensor], step: Step
) -> None:
    """One step of tensors of one device and dtype; without momentum there are no buffers.

    It needs memory for one copy of the parameters: the gradients with their sign and pull, then
    the argument of the field, then the field. Of halves the last two are in float32.
    """
    inner, outer = step.inner, step.outer
    work: list[Tensor] | None = None
    if step.maximize:
        work = list(torch._foreach_neg(grads))
    if step.pull != 0:
        if work is None:
            work = list(torch._foreach_add(grads, params, alpha=step.pull))
        else:
            torch._foreach_add_(work, params, alpha=step.pull)
    if step.decoupled:
        torch._foreach_mul_(params, step.keep)
    if step.momentum != 0:
        torch._foreach_mul_(buffers, step.momentum)
        torch._foreach_add_(buffers, grads if work is None else work)
    if step.momentum == 0:
        direction = grads if work is None else work
    elif step.nesterov:
        if work is None:
            work = list(torch._foreach_add(grads, buffers, alpha=step.momentum))
        else:
            torch._foreach_add_(work, buffers, alpha=step.momentum)
        direction = work
    else:
        direction = buffers
    work = _times(direction, inner, work)
    work = field_(work, step.alpha)
    if isinstance(outer, Tensor):
        torch._foreach_mul_(work, outer)
        torch._foreach_sub_(params, work)
    else:
        torch._foreach_add_(params, work, alpha=-outer)


def _times(
    tensors: list[Tensor], factor: float | Tensor, memory: list[Tensor] | None
) -> list[Tensor]:
    """The products, in this memory if it can hold them."""
    dtype = wide(tensors[0].dtype)
    if tensors[0].dtype != dtype:
        # Halves have too few octaves for the field's argument.
        memory = [t.to(dtype) for t in tensors]
    elif memory is None:
        return list(torch._foreach_mul(tensors, factor))
    elif memory is not tensors:
        torch._foreach_copy_(memory, tensors)
    torch._foreach_mul_(memory, factor)
    return memory
