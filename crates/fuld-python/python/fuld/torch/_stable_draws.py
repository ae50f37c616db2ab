"""Draws of the symmetric stable law on any device, by the method of Chambers, Mallows and Stuck."""

from __future__ import annotations

import math

import torch
from torch import Tensor

_ULP = 2.0**-53
"""Spacing of uniform doubles."""


def stable_like(x: Tensor, alpha: float, generator: torch.Generator | None) -> Tensor:
    """Return independent draws of SaS(1), of the shape, dtype and device of `x`.

    X = sin(αφ) (cos φ)^(-1/α) (W/cos((α-1)φ))^((α-1)/α), with φ uniform on (-π/2, π/2) and W
    exponential. At alpha = 1 this is tan φ, at alpha = 2 it is 2 sin φ √W, which is N(0, 2).

    Computed in float64 also for float32: its uniform numbers have 24 bits, so that the tails would
    end where draws of one in ten million begin. Large draws come from angles near ±π/2. The
    distance from there is exact, so draws are exact in law down to probabilities of 2^-53. In
    float32 the largest draws overflow if alpha < 0.5.
    """
    uniform = torch.rand(
        (2, *x.shape), generator=generator, device=x.device, dtype=torch.float64
    ).unbind()
    # In (-1, 1), both ends left out.
    turn = uniform[0].mul_(2).sub_(1 - _ULP)
    sign = turn.sgn()
    # The distance of |φ| from π/2. 1 - |turn| is exact.
    distance = turn.abs_().neg_().add_(1).mul_(math.pi / 2)
    angle = math.pi / 2 - distance
    wait = uniform[1].neg_().log1p_().neg_().clamp_(min=_ULP / 2)
    log_size = wait.log_().sub_(angle.mul(alpha - 1).cos_().log_()).mul_(alpha - 1)
    log_size.sub_(distance.sin_().log_()).div_(alpha)
    return angle.mul_(alpha).sin_().mul_(log_size.exp_()).mul_(sign).to(x.dtype)
