"""The step tensor by tensor, in torch's own operations."""

from __future__ import annotations

from torch import Tensor

from fuld.torch._field import field, wide
from fuld.torch._kernels import field_
from fuld.torch._step import Step


def single_tensor(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    step: Step,
    differentiable: bool,
) -> None:
    """One step of every parameter; without momentum there are no buffers."""
    inner, outer = step.inner, step.outer
    for i, (x, grad) in enumerate(zip(params, grads, strict=True)):
        g = -grad if step.maximize else grad
        if step.pull != 0:
            g = g.add(x, alpha=step.pull)
        if step.decoupled:
            x.mul_(step.keep)
        direction = g
        if step.momentum != 0:
            b = buffers[i]
            b.mul_(step.momentum).add_(g)
            # A copy for autograd: the next step changes b.
            b = b.clone() if differentiable else b
            direction = g.add(b, alpha=step.momentum) if step.nesterov else b
        # Halves have too few octaves for the field's argument.
        v = direction.to(wide(direction.dtype)) * inner
        if differentiable:
            x.sub_(field(v, step.alpha) * outer)
        else:
            h = field_([v], step.alpha)[0]
            if isinstance(outer, Tensor):
                x.sub_(h.mul_(outer))
            else:
                x.add_(h, alpha=-outer)
