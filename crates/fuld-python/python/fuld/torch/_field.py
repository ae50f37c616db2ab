"""The field ∇G_α on tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from fuld._table_data import table_data
from fuld.torch._constant import constant


@dataclass(frozen=True)
class Pieces:
    """The table of one alpha and precision in the memory of one device.

    Flat: torch's compiler makes several graphs of a step if objects are nested here.
    """

    shift: float
    near: float
    """The largest v at which pieces hold ∇G/v."""
    lowest: int
    """Binary exponent of the first octave."""
    octaves: Tensor
    """First piece and split of each octave, int32."""
    packed: Tensor
    """The same in one integer."""
    density: Tensor
    """Pieces per unit of length in each octave."""
    coefficients: Tensor
    """One row per piece, the lowest power first."""


@lru_cache(maxsize=64)
def _pieces(alpha: float, device: torch.device, dtype: torch.dtype) -> Pieces:
    real = np.dtype(np.float32 if dtype == torch.float32 else np.float64)
    data = table_data(alpha, real)
    octaves = data.octaves
    exponents = np.arange(data.lowest, data.lowest + len(octaves), dtype=np.float64)
    return Pieces(
        data.shift,
        data.near(real),
        data.lowest,
        torch.tensor(octaves, device=device),
        torch.tensor(data.packed, device=device),
        torch.tensor(np.exp2(octaves[:, 1] - exponents), device=device, dtype=dtype),
        torch.tensor(data.coefficients[:, 0], device=device, dtype=dtype),
    )


@constant
def pieces(alpha: float, device: torch.device, dtype: torch.dtype) -> Pieces:
    """Return the table for arguments of float32 or float64, built once."""
    return _pieces(alpha, device, dtype)


def wide(dtype: torch.dtype) -> torch.dtype:
    """Return the precision in which numbers of this dtype are computed."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def field(v: Tensor, alpha: float) -> Tensor:
    """Return ∇G_α(v) by torch's own operations: for compilers, autograd, devices without a kernel.

    The result is NaN where v is infinite, so that a step with an infinite momentum is noticed.
    """
    if v.dim() == 0:
        # Indexing by a tensor without dimensions copies it to the host, and waits for the device.
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
    # Beyond the last octave the table keeps its last value.
    top = 2.0 ** (table.lowest + len(table.octaves))
    u = u.clamp(max=top * (1 - torch.finfo(dtype).eps))
    bits = u.detach().view(integers)
    octave = ((bits >> mantissa_bits) - (table.lowest + bias)).clamp(0, len(table.octaves) - 1)
    first, split = table.octaves[octave].to(integers).unbind(-1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    within = mantissa >> (mantissa_bits - split)
    # From u and not from its bits, so that it has a derivative. Factors are powers of two: exact.
    t = u * table.density[octave] - ((1 << split) + within + 0.5)
    c = table.coefficients[first + within].unbind(-1)
    held = c[-1]
    for lower in reversed(c[:-1]):
        held = held * t + lower
    # Adds 0, or NaN if size is infinite.
    far = held / size.clamp(min=table.near) * x.sgn() + 0 * size
    return torch.where(size <= table.near, held * x, far).to(v.dtype)
