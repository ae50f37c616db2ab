"""What is done to gradients before a step: nothing, clipping of several kinds, and the guard."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from fuld.torch import guard
from torch import Tensor
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

Treatment = Callable[[list[torch.nn.Parameter]], None]


class ZClip:
    """ZClip: the norm of the gradient is clipped where it is an outlier among recent norms.

    With the running mean m and standard deviation s of the norm, and z = (norm - m)/s above 2.5,
    the norm becomes m + 2.5² s/z.
    """

    WARMUP, MEMORY, THRESHOLD = 25, 0.97, 2.5

    def __init__(self) -> None:
        self.norms: list[float] = []
        self.mean = self.variance = 0.0

    def __call__(self, params: list[torch.nn.Parameter]) -> None:
        """Clip the gradients."""
        grads = [p.grad for p in params if p.grad is not None]
        norm = float(torch.nn.utils.get_total_norm(grads))
        if len(self.norms) < self.WARMUP:
            self.norms.append(norm)
            if len(self.norms) == self.WARMUP:
                self.mean = sum(self.norms) / self.WARMUP
                self.variance = sum((n - self.mean) ** 2 for n in self.norms) / self.WARMUP
            return
        spread = math.sqrt(self.variance)
        z = (norm - self.mean) / spread if spread > 0 else 0.0
        if z > self.THRESHOLD:
            allowed = self.mean + self.THRESHOLD**2 / z * spread
            torch._foreach_mul_(grads, allowed / norm)
            norm = allowed
        deviation = norm - self.mean
        self.mean += (1 - self.MEMORY) * deviation
        self.variance = self.MEMORY * self.variance + (1 - self.MEMORY) * deviation**2


class Lion(torch.optim.Optimizer):
    """Lion: steps by the sign of an average of gradients."""

    def __init__(self, params: Iterable[Tensor], lr: float, betas: tuple[float, float]) -> None:
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take a step."""
        del closure
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                momentum = state["momentum"]
                p.add_(momentum.lerp(p.grad, 1 - first).sign_(), alpha=-group["lr"])
                momentum.lerp_(p.grad, 1 - second)


def _nothing(params: list[torch.nn.Parameter]) -> None:
    del params


def make_treatment(name: str) -> Treatment:
    """Return what is done to gradients, by its name: the last word may be a limit."""
    kind, _, limit = name.rpartition(" ")
    if kind == "clip norm":
        return lambda params: clip_norm(params, float(limit))
    if kind == "clip values":
        return lambda params: clip_grad_value_(params, float(limit))
    return ZClip() if name == "ZClip" else _nothing  # the guard belongs to the optimizer


def clip_norm(params: list[torch.nn.Parameter], limit: float) -> None:
    """Clip the norm of all gradients."""
    clip_grad_norm_(params, limit)


def make_optimizer(
    name: str, treatment: str, params: list[torch.nn.Parameter], lr: float
) -> torch.optim.Optimizer:
    """Return an optimizer by its name; with a guard if the treatment is one, as in "guard 10"."""
    optimizer: torch.optim.Optimizer
    if name == "SGD":
        optimizer = torch.optim.SGD(params, lr, momentum=0.9)
    elif name == "AdamW":
        optimizer = torch.optim.AdamW(params, lr, betas=(0.9, 0.95), weight_decay=0.1)
    else:
        optimizer = Lion(params, lr, betas=(0.9, 0.99))
    kind, *clip = treatment.split()
    if kind != "guard":
        return optimizer
    return guard(optimizer, clip=float(clip[0])) if clip else guard(optimizer)
