"""The field ∇G_α on tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from fuld import _native
from fuld.torch._constant import constant


@dataclass(frozen=True)
class Pieces:
    """The field of one alpha in the memory of one device, as `levy_stable::FieldPieces` has it."""

    shift: float
    near: float
    lowest: int
    """Binary exponent of the first octave."""
    octaves: Tensor
    """First piece and split of each octave, int32."""
    density: Tensor
    """Pieces on a unit of length in each octave."""
    coefficients: Tensor
    """One row a piece, the lowest power first."""


@lru_cache(maxsize=64)
def _pieces(alpha: float, device: torch.device, dtype: torch.dtype) -> Pieces:
    shift, near, lowest, octaves, coefficients = _native.field_pieces(alpha, dtype == torch.float32)
    density = np.exp2(octaves[:, 1] - np.arange(lowest, lowest + len(octaves), dtype=np.float64))
    return Pieces(
        shift,
        near,
        lowest,
        torch.tensor(octaves, device=device),
        torch.tensor(density, device=device, dtype=dtype),
        torch.tensor(coefficients, device=device),
    )


@constant
def pieces(alpha: float, device: torch.device, dtype: torch.dtype) -> Pieces:
    """The field for arguments of float32 or float64, made once."""
    return _pieces(alpha, device, dtype)


def wide(dtype: torch.dtype) -> torch.dtype:
    """The precision in which numbers of this dtype are handled."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def field(v: Tensor, alpha: float) -> Tensor:
    """∇G_α(v) in torch's own operations: for compilers, autograd and devices without a kernel.

    NaN where v is infinite: of a momentum that is, the step must not go on in silence.
    """
    if v.dim() == 0:
        # A table indexed by a tensor without dimensions is read by a number, for which torch waits.
        return field(v.reshape(1), alpha).reshape(())
    dtype = wide(v.dtype)
    table = pieces(alpha, v.device, dtype)
    if dtype == torch.float64:
        integers, mantissa_bits, bias = torch.int64, 52, 1023
    else:
        integers, mantissa_bits, bias = torch.int32, 23, 127
    x = v.to(dtype)
    size = x.abs()
    u = torch.maximum(size + table.shift, size + size)
    # Beyond its last octave the table goes on as it is at its end.
    top = 2.0 ** (table.lowest + len(table.octaves))
    u = u.clamp(max=top * (1 - torch.finfo(dtype).eps))
    bits = u.detach().view(integers)
    octave = ((bits >> mantissa_bits) - (table.lowest + bias)).clamp(0, len(table.octaves) - 1)
    first, split = table.octaves[octave].to(integers).unbind(-1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    within = mantissa >> (mantissa_bits - split)
    # From u itself and not from its bits, so that there is a derivative. Powers of two: exact.
    t = u * table.density[octave] - ((1 << split) + within + 0.5)
    c = table.coefficients[first + within].unbind(-1)
    held = c[-1]
    for lower in reversed(c[:-1]):
        held = held * t + lower
    # 0 is added, or NaN if size is infinite.
    far = held / size.clamp(min=table.near) * x.sgn() + 0 * size
    return torch.where(size <= table.near, held * x, far).to(v.dtype)
