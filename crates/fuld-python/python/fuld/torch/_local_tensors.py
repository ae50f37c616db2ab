"""Tensors of other kinds as plain real ones, over the same memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def real_shards(tensors: list[Any]) -> list[Tensor]:
    """What this process has of sharded tensors; pairs of real numbers for complex ones."""
    return [real_shard(t) for t in tensors]


def real_shard(t: Any) -> Tensor:  # noqa: ANN401
    """The same of one tensor."""
    return _real(_local(t))


def local(tensors: list[Any]) -> list[Any]:
    """What this process has of sharded tensors; None stays."""
    return [t if t is None else _local(t) for t in tensors]


def whole(params: list[Any], parts: list[Tensor]) -> list[Tensor]:
    """Return the tensors with these local parts, sharded as the parameters are."""
    if not any(hasattr(x, "placements") for x in params):
        return parts
    from torch.distributed.tensor import DTensor

    return [
        DTensor.from_local(
            part, x.device_mesh, x.placements, run_check=False, shape=x.shape, stride=x.stride()
        )
        if hasattr(x, "placements")
        else part
        for x, part in zip(params, parts, strict=True)
    ]


def like(params: list[Any], grads: list[Any]) -> list[Tensor]:
    """The gradients, sharded as their parameters are."""
    return [
        g.redistribute(x.device_mesh, x.placements)
        if hasattr(x, "placements") and g.placements != x.placements
        else g
        for x, g in zip(params, grads, strict=True)
    ]


def _local(t: Tensor) -> Tensor:
    part = t.to_local() if hasattr(t, "to_local") else t
    # A tensor that is still being received from other processes has no memory yet.
    return part.wait() if hasattr(part, "wait") else part


def _real(t: Tensor) -> Tensor:
    # Gradients may be conjugates that were not written down; parameters and buffers never are.
    return torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
