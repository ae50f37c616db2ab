"""Tensors of other kinds as plain real ones, over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


def plain(tensors: list[Tensor]) -> list[Tensor]:
    """This process's part of sharded tensors; pairs of real numbers for complex ones."""
    return [_real(_local(t)) for t in tensors]


def like(params: list[Tensor], grads: list[Tensor]) -> list[Tensor]:
    """The gradients, sharded as their parameters are."""
    return [
        g if not hasattr(x, "placements") or g.placements == x.placements else _moved(x, g)
        for x, g in zip(params, grads, strict=True)
    ]


def _moved(x: DTensor, g: DTensor) -> DTensor:
    return g.redistribute(x.device_mesh, x.placements)


def _local(t: Tensor) -> Tensor:
    return t.to_local() if hasattr(t, "to_local") else t


def _real(t: Tensor) -> Tensor:
    return torch.view_as_real(t) if t.is_complex() else t
