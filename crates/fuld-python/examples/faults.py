"""Faults of gradients: what goes wrong in hardware, in data and in long training runs."""

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

Fault = Callable[[list[Tensor], torch.Generator], None]


def none(grads: list[Tensor], generator: torch.Generator) -> None:
    """Leave the gradients as they are."""


def bit_flips(grads: list[Tensor], generator: torch.Generator) -> None:
    """Flip one bit of the exponent in a few components."""
    for grad, places in _corrupted(grads, generator):
        bits = torch.randint(23, 31, places.shape, generator=generator).to(grad.device)
        raw = grad.view(-1).view(torch.int32)
        raw[places] ^= torch.ones_like(raw[places]) << bits.to(torch.int32)


def infinities(grads: list[Tensor], generator: torch.Generator) -> None:
    """Set a few components to infinity."""
    for grad, places in _corrupted(grads, generator):
        grad.view(-1)[places] = math.inf


def bursts(grads: list[Tensor], generator: torch.Generator) -> None:
    """Multiply all gradients of a few steps."""
    if torch.rand((), generator=generator) < BURSTS:
        torch._foreach_mul_(grads, FACTOR)


def stable_noise(grads: list[Tensor], generator: torch.Generator) -> None:
    """Add symmetric stable noise, by the formula of Chambers, Mallows and Stuck."""
    for grad in grads:
        angle = (torch.rand(grad.shape, generator=generator) - 0.5) * math.pi
        waiting = torch.empty(grad.shape).exponential_(generator=generator).clamp_min_(1e-30)
        tail = (torch.cos((1 - ALPHA) * angle) / waiting) ** (1 / ALPHA - 1)
        noise = torch.sin(ALPHA * angle) / torch.cos(angle) ** (1 / ALPHA) * tail
        grad.add_(noise.to(grad.device), alpha=SCALE)


FAULTS: dict[str, Fault] = {
    "clean": none,
    "bit flips": bit_flips,
    "infinities": infinities,
    "bursts": bursts,
    "stable noise": stable_noise,
}


def _corrupted(grads: list[Tensor], generator: torch.Generator) -> list[tuple[Tensor, Tensor]]:
    """Return the gradients with corrupted components, and the places of these components."""
    total = sum(grad.numel() for grad in grads)
    count = int(torch.poisson(torch.tensor(CORRUPTED * total), generator=generator))
    places = torch.randint(total, (count,), generator=generator)
    found, first = [], 0
    for grad in grads:
        here = places[(places >= first) & (places < first + grad.numel())] - first
        first += grad.numel()
        if len(here):
            found.append((grad, here.to(grad.device)))
    return found
