"""Tensors of other kinds as plain real ones, over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

_T = TypeVar("_T", Tensor, Tensor | None)


def plain(tensors: list[Tensor]) -> list[Tensor]:
    """The parts of sharded tensors that this process has; pairs of real numbers for complex ones."""
    return [_real(_local(t)) for t in tensors]


def like(params: list[Tensor], grads: list[Tensor]) -> list[Tensor]:
    """The gradients, sharded as their parameters are."""
    return [
        g if not hasattr(x, "placements") or g.placements == x.placements else _moved(x, g)
        for x, g in zip(params, grads, strict=True)
    ]


def local(tensors: list[_T]) -> list[_T]:
    """The parts of sharded tensors that this process has; None stays."""
    return [t if t is None else _local(t) for t in tensors]


def whole(x: Tensor, part: Tensor) -> Tensor:
    """The tensor, sharded as x is, of which this process has this part."""
    if not hasattr(x, "placements"):
        return part
    from torch.distributed.tensor import DTensor

    return DTensor.from_local(
        part, x.device_mesh, x.placements, run_check=False, shape=x.shape, stride=x.stride()
    )


def _moved(x: DTensor, g: DTensor) -> DTensor:
    return g.redistribute(x.device_mesh, x.placements)


def _local(t: Tensor) -> Tensor:
    part = t.to_local() if hasattr(t, "to_local") else t
    # What is still on its way from other processes has no memory yet.
    return part.wait() if hasattr(part, "wait") else part


def _real(t: Tensor) -> Tensor:
    return torch.view_as_real(t) if t.is_complex() else t
