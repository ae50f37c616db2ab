"""The step at alpha = 2: torch's own SGD."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import sgd as torch_sgd

from fuld.torch._local_tensors import like, local, whole


def sgd(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor | None],
    group: dict[str, Any],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Takes SGD's step, and fills in the buffers that were not there."""
    if group["fused"] and not (found_inf is None and all(b is None for b in buffers)):
        # torch's fused step would keep memory that nobody has written where a scaler skips the
        # first step, and fails where only some parameters are at their first. From b = 0 it is g.
        buffers[:] = [
            torch.zeros_like(x) if b is None else b for x, b in zip(params, buffers, strict=False)
        ]
    # Of sharded tensors each process has its own part: torch's fused step takes no others.
    shards, grads, kept = local(params), local(like(params, grads)), local(buffers)
    weight_decay = group["weight_decay"]
    if group["decoupled_weight_decay"]:
        for x in shards:
            # Not where the step will be skipped.
            rate = group["lr"] if found_inf is None else group["lr"] * (found_inf.to(x.device) == 0)
            x.mul_(1 - rate * weight_decay)
        weight_decay = 0.0
    torch_sgd.sgd(
        shards,
        grads,
        kept,
        has_sparse_grad=any(g.is_sparse for g in grads),
        foreach=group["foreach"],
        fused=group["fused"],
        grad_scale=grad_scale,
        found_inf=found_inf,
        weight_decay=weight_decay,
        momentum=group["momentum"],
        lr=group["lr"],
        dampening=0,
        nesterov=group["nesterov"],
        maximize=group["maximize"],
    )
    if any(b is None for b in buffers):
        buffers[:] = whole(params, kept)
