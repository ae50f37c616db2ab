"""What is done to gradients before a step: nothing, clipping of several kinds, and the guard.

Nothing here waits for a GPU, so that steps can be captured in a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from fuld.torch import guard
from torch import Tensor
from torch.nn.utils import clip_grad_norm_, clip_grad_value_, get_total_norm

Treatment = Callable[[list[torch.nn.Parameter]], None]


class ZClip:
    """ZClip: the norm of the gradient is clipped where it is an outlier among recent norms.

    With the running mean m and standard deviation s of the norm, and z = (norm - m)/s above 2.5,
    the norm becomes m + 2.5² s/z. The first 25 norms are averaged and not clipped.
    """

    WARMUP, MEMORY, THRESHOLD = 25, 0.97, 2.5

    def __init__(self, device: torch.device) -> None:
        self.count, self.mean, self.variance = torch.zeros(3, device=device).unbind()

    def __call__(self, params: list[torch.nn.Parameter]) -> None:
        """Clip the gradients."""
        grads = [p.grad for p in params if p.grad is not None]
        norm = get_total_norm(grads)
        self.count.add_(1)
        warming = self.count <= self.WARMUP
        spread = self.variance.sqrt()
        z = (norm - self.mean) / spread
        allowed = self.mean + self.THRESHOLD**2 / z * spread
        clipped = ~warming & (spread > 0) & (z > self.THRESHOLD)
        torch._foreach_mul_(grads, torch.where(clipped, allowed / norm, 1.0))
        # The mean and variance of the first norms are not weighted.
        weight = torch.where(warming, 1 / self.count, 1 - self.MEMORY)
        deviation = torch.where(clipped, allowed, norm) - self.mean
        self.mean.add_(weight * deviation)
        square = torch.where(warming, (1 - weight) * deviation**2, deviation**2)
        self.variance.add_(weight * (square - self.variance))


class Lion(torch.optim.Optimizer):
    """Lion: steps by the sign of an average of gradients."""

    def __init__(
        self, params: Iterable[Tensor], lr: Tensor | float, betas: tuple[float, float]
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take a step."""
        del closure
        for group in self.param_groups:
            first, second = group["betas"]
            params = [p for p in group["params"] if p.grad is not None]
            grads = [p.grad for p in params]
            for p in params:
                if not self.state[p]:
                    self.state[p]["momentum"] = torch.zeros_like(p)
            momenta = [self.state[p]["momentum"] for p in params]
            steps = torch._foreach_lerp(momenta, grads, 1 - first)
            torch._foreach_sign_(steps)
            torch._foreach_mul_(steps, group["lr"])
            torch._foreach_sub_(params, steps)
            torch._foreach_lerp_(momenta, grads, 1 - second)


def _nothing(params: list[torch.nn.Parameter]) -> None:
    del params


def make_treatment(name: str, device: torch.device) -> Treatment:
    """Return what is done to gradients, by its name: the last word may be a limit."""
    kind, _, limit = name.rpartition(" ")
    if kind == "clip norm":
        return lambda params: clip_norm(params, float(limit))
    if kind == "clip values":
        return lambda params: clip_grad_value_(params, float(limit))
    return ZClip(device) if name == "ZClip" else _nothing  # the guard belongs to the optimizer


def clip_norm(params: list[torch.nn.Parameter], limit: float) -> None:
    """Clip the norm of all gradients."""
    clip_grad_norm_(params, limit)


def make_optimizer(
    name: str, treatment: str, params: list[torch.nn.Parameter], lr: Tensor | float
) -> torch.optim.Optimizer:
    """Return an optimizer by its name; with a guard if the treatment is one, as in "guard 10".

    The learning rate may be a tensor, which the optimizer reads in every step.
    """
    optimizer: torch.optim.Optimizer
    if name == "SGD":
        optimizer = torch.optim.SGD(params, lr, momentum=0.9, fused=True)
    elif name == "AdamW":
        on_gpu = params[0].is_cuda
        optimizer = torch.optim.AdamW(
            params, lr, betas=(0.9, 0.95), weight_decay=0.1, fused=True, capturable=on_gpu
        )
    elif name == "Lion":
        optimizer = Lion(params, lr, betas=(0.9, 0.99))
    else:
        raise ValueError(f"the optimizer must be SGD, AdamW or Lion, got {name!r}")
    kind, *clip = treatment.split()
    if kind != "guard":
        return optimizer
    return guard(optimizer, clip=float(clip[0])) if clip else guard(optimizer)
