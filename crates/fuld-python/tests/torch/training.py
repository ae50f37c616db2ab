"""A small training for the tests of several processes: data, network, settings of FULD."""

from __future__ import annotations

from typing import Any

import torch
from fuld.torch import FULD
from torch import Tensor, nn

STEPS = 6
BATCH = 8

TAILED: dict[str, Any] = {"lr": 0.05, "alpha": 1.5, "noise_scale": 0.05}
SGD: dict[str, Any] = {"lr": 0.05, "alpha": 2.0}

SETTINGS: dict[str, dict[str, Any]] = {
    "default": TAILED,
    "foreach": {**TAILED, "foreach": True},
    "fused": {**TAILED, "fused": True},
    "single": {**TAILED, "foreach": False, "fused": False},
    "pulled": {**TAILED, "nesterov": True, "weight_decay": 0.1},
    "decoupled": {**TAILED, "decoupled_weight_decay": True, "weight_decay": 0.1, "maximize": True},
    "plain": {**TAILED, "momentum": 0.0},
    "paper": {"lr": 0.05, "alpha": 1.5, "form": "paper", "beta": 1.0},
    "sgd": SGD,
    "sgd foreach": {**SGD, "foreach": True},
    "sgd fused": {**SGD, "fused": True},
    "sgd single": {**SGD, "foreach": False, "fused": False},
    "sgd pulled": {**SGD, "nesterov": True, "weight_decay": 0.1},
    "sgd decoupled": {**SGD, "decoupled_weight_decay": True, "weight_decay": 0.1},
}


def network() -> nn.Sequential:
    """The same network for everyone.

    Of two processes one has three of the five rows of the first layer and two the other; the
    single row of the last layer leaves the second with nothing.
    """
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1)).double()


def batch(step: int) -> tuple[Tensor, Tensor]:
    """The data of a step. Every third target is far out, so that gradients reach the knee."""
    noise = torch.Generator().manual_seed(step)
    x = torch.randn(BATCH, 4, generator=noise, dtype=torch.float64)
    y = x.sum(1, keepdim=True)
    y[::3] *= 20
    return x, y


def halves(step: int) -> list[tuple[Tensor, Tensor]]:
    """The data of each of two processes."""
    x, y = batch(step)
    return [(x[:4], y[:4]), (x[4:], y[4:])]


def loss(model: nn.Module, data: tuple[Tensor, Tensor]) -> Tensor:
    """The mean over the data."""
    x, y = data
    return nn.functional.mse_loss(model(x), y)


def optimizer(model: nn.Module, settings: dict[str, Any]) -> FULD:
    """FULD over the parameters of a model."""
    return FULD(model.parameters(), **settings)


def outcome(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, list[Tensor]]:
    """Parameters and momentum, whole; all processes must ask."""
    params = list(model.parameters())
    buffers = [optimizer.state[x].get("momentum_buffer") for x in params]
    return {
        "parameters": [_whole(x.detach()) for x in params],
        "momentum": [_whole(b) for b in buffers if b is not None],
    }


def _whole(t: Tensor) -> Tensor:
    return t.full_tensor() if hasattr(t, "full_tensor") else t
