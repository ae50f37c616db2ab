"""Faults of gradients: what goes wrong in hardware, in data and in long training runs.

A fault changes the gradients of all parameters, which are one vector. No fault waits for a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

#: Probability that a component is corrupted, and that a step is a burst.
CORRUPTED, BURSTS = 1e-6, 0.01
#: How much larger all gradients of a burst are.
FACTOR = 1000.0
#: Tail index and scale of the noise.
ALPHA, SCALE = 1.5, 1e-4

Fault = Callable[[Tensor, torch.Generator], None]


def none(gradient: Tensor, generator: torch.Generator) -> None:
    """Leave the gradient as it is."""


def bit_flips(gradient: Tensor, generator: torch.Generator) -> None:
    """Flip one bit of the exponent in a few components."""
    corrupted = _corrupted(gradient, generator)
    bits = torch.randint(
        23, 31, gradient.shape, generator=generator, device=gradient.device, dtype=torch.int32
    )
    gradient.view(torch.int32).bitwise_xor_(corrupted.int() << bits)


def infinities(gradient: Tensor, generator: torch.Generator) -> None:
    """Set a few components to infinity."""
    gradient.masked_fill_(_corrupted(gradient, generator), math.inf)


def bursts(gradient: Tensor, generator: torch.Generator) -> None:
    """Multiply the gradients of a few steps."""
    burst = torch.rand((), generator=generator, device=gradient.device) < BURSTS
    gradient.mul_(torch.where(burst, FACTOR, 1.0))


def stable_noise(gradient: Tensor, generator: torch.Generator) -> None:
    """Add symmetric stable noise, by the formula of Chambers, Mallows and Stuck."""
    # In single precision the cosine of π/2 is negative, and one draw in 16 million would be NaN.
    uniform = torch.rand(
        (2, *gradient.shape), generator=generator, device=gradient.device, dtype=torch.float64
    )
    angle = (uniform[0] - 0.5) * math.pi
    waiting = (-torch.log1p(-uniform[1])).clamp_min_(1e-30)
    tail = (torch.cos((1 - ALPHA) * angle) / waiting) ** (1 / ALPHA - 1)
    noise = torch.sin(ALPHA * angle) / torch.cos(angle) ** (1 / ALPHA) * tail
    gradient.add_(noise, alpha=SCALE)


FAULTS: dict[str, Fault] = {
    "clean": none,
    "bit flips": bit_flips,
    "infinities": infinities,
    "bursts": bursts,
    "stable noise": stable_noise,
}


def _corrupted(gradient: Tensor, generator: torch.Generator) -> Tensor:
    """Return which components are corrupted."""
    uniform = torch.rand(gradient.shape, generator=generator, device=gradient.device)
    return uniform < CORRUPTED
