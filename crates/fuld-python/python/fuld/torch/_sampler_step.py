"""One step of FULD on tensors, in the order of BAOAB."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from fuld.torch._kernels import field_
from fuld.torch._sampler_settings import Settings
from fuld.torch._stable_draws import stable_like


def advance_(
    params: list[Tensor],
    velocities: list[Tensor],
    gradients: list[Tensor],
    noise_scales: list[float],
    k: int,
    settings: Settings,
    generator_on: Callable[[torch.device], torch.Generator | None],
) -> None:
    """Take step k in place, along the gradients of f at the parameters.

    BAOAB is B½ A½ O A½ B½. The last half kick of a step and the first one of the next use the same
    gradient, so this is B A½ O A½ with the sum of both kicks: (ηₖ₋₁ + ηₖ)/2, the first one η₀/2.
    """
    before, eta = settings.step_size(k - 1), settings.step_size(k)
    for x, v, g, noise_scale in zip(params, velocities, gradients, noise_scales, strict=True):
        v.add_(g, alpha=-0.5 * (before + eta))
        _move_(x, v, 0.5 * eta, settings)
        decay, scale = settings.relaxation(noise_scale, eta)
        noise = stable_like(v, settings.alpha, generator_on(v.device))
        v.mul_(decay).add_(noise, alpha=scale)
        _move_(x, v, 0.5 * eta, settings)


def _move_(x: Tensor, v: Tensor, time: float, settings: Settings) -> None:
    """Apply x ← x + t h(v), with h(v) = outer ∇G(inner v)."""
    inner, outer = settings.factors
    x.add_(field_([v * inner], settings.alpha)[0], alpha=time * outer)
