"""Optimizers led along given gradients, in every implementation and with every option."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")

IMPLEMENTATIONS: dict[str, dict[str, Any]] = {
    "single": {"foreach": False, "fused": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
    "default": {},
    "differentiable": {"differentiable": True},
}

# Those that SGD has too.
COMMON: dict[str, dict[str, Any]] = {
    "momentum": {"momentum": 0.9},
    "no momentum": {"momentum": 0.0},
    "nesterov": {"momentum": 0.8, "nesterov": True},
    "decay": {"momentum": 0.9, "weight_decay": 0.3},
    "decay without momentum": {"momentum": 0.0, "weight_decay": 0.3},
    "uphill": {"momentum": 0.9, "maximize": True},
    "uphill with decay": {"momentum": 0.9, "maximize": True, "weight_decay": 0.3},
    "uphill without momentum": {"momentum": 0.0, "maximize": True},
    "all": {"momentum": 0.8, "nesterov": True, "maximize": True, "weight_decay": 0.3},
}
OPTIONS: dict[str, dict[str, Any]] = {
    **COMMON,
    "decoupled": {"weight_decay": 0.3, "decoupled_weight_decay": True},
    "decoupled uphill": {
        "momentum": 0.0,
        "weight_decay": 0.3,
        "decoupled_weight_decay": True,
        "maximize": True,
    },
    "alpha": {"alpha": 1.2, "noise_scale": 0.3},
    "low alpha": {"alpha": 0.7, "noise_scale": 2.0, "momentum": 0.5},
    "paper": {"form": "paper", "beta": 0.05**-1.75},
    "paper without momentum": {"form": "paper", "beta": 0.05**-1.75, "momentum": 0.0},
    "paper with momentum 1": {"form": "paper", "momentum": 1.0, "weight_decay": 0.1},
}


def draw(shape: Sequence[int], steps: int, seed: int = 1) -> tuple[Any, Any]:
    """A start and gradients of all sizes, from far below the field's knee to far beyond it."""
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(shape, generator=generator, dtype=torch.float64)
    gradients = torch.randn([steps, *shape], generator=generator, dtype=torch.float64)
    sizes = torch.rand([steps, *shape], generator=generator, dtype=torch.float64)
    return start, gradients * 10 ** (4 * sizes - 2)


def walk(make: Callable[..., Any], start: Any, gradients: Any, **settings: Any) -> tuple[Any, Any]:
    """Where an optimizer ends and its last buffer, None without momentum."""
    x = start.clone()
    optimizer = make([x], **settings)
    for gradient in gradients:
        # A copy: torch's own foreach step of nesterov changes the gradient.
        x.grad = gradient.clone()
        optimizer.step()
    return x.detach(), optimizer.state[x].get("momentum_buffer")
