"""Guarded optimizers along given gradients, and the guard's rule in NumPy, for the tests."""

import math
from typing import Any

import numpy as np
import torch
from fuld import _native

#: A sampled tensor, small ones, a single number, and none at all.
SHAPES = [(70, 33), (100, 90), (5,), (), (0, 3)]
NAN, INF = math.nan, math.inf


class Sign(torch.optim.Optimizer):
    """An optimizer that torch does not have, with a state that begins like Adam's."""

    def __init__(self, params, lr=1e-2):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for x in group["params"]:
                if x.grad is None:
                    continue
                state = self.state[x]
                if len(state) == 0:
                    state["average"] = torch.zeros_like(x)
                state["average"].lerp_(x.grad, 0.1)
                x.add_(state["average"].sign(), alpha=-group["lr"])
        return loss


#: One of each kind: with state from the first step, from the beginning, without, and our own.
OPTIMIZERS: dict[str, Any] = {
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=False),
    "AdamW foreach": lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True),
    "AdamW fused": lambda p: torch.optim.AdamW(p, lr=1e-2, fused=True),
    "SGD": lambda p: torch.optim.SGD(p, lr=1e-2),
    "SGD momentum": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-2),
    "Sign": Sign,
}


def parameters(dtype=torch.float32, shapes=SHAPES, device="cpu"):
    random = torch.Generator().manual_seed(3)
    return [
        torch.nn.Parameter(torch.randn(s, generator=random, dtype=torch.float64).to(device, dtype))
        for s in shapes
    ]


def fill(params, step, size=1.0):
    """Give the parameters the gradients of a step."""
    random = torch.Generator().manual_seed(step)
    for x in params:
        gradient = size * torch.randn(x.shape, generator=random, dtype=torch.float64)
        x.grad = gradient.to(x.device, x.dtype)


def corrupted(params, step):
    """Give gradients with a burst at step 7, and components that are not numbers at others."""
    fill(params, step, 1000.0 if step == 7 else 1.0)
    for x in params:
        if x.numel() > 3 and step % 3 == 1:
            for i, value in enumerate((NAN, INF, -INF, 0.0)):
                x.grad.view(-1)[i] = value


def lead(params, optimizer, steps):
    for step in steps:
        fill(params, step)
        optimizer.step()


def states(params, optimizer):
    return [optimizer.state[x]["guard"].tolist() for x in params]


class Reference:
    """The rule for one tensor, written down once more in double precision."""

    def __init__(self, clip):
        self.clip, self.steps, self.log_scale = clip, 0, 0.0

    def apply(self, gradient):
        """Return the guarded gradient."""
        flat = np.asarray(gradient, dtype=np.float64).ravel()
        sample = np.abs(flat[_native.guard_positions(flat.size)])
        sample = sample[(sample > 0) & np.isfinite(sample)]
        deviation, first = 0.0, self.steps == 0
        if sample.size:
            mean = np.log(sample).mean()
            before = [mean, min(mean, self.log_scale), self.log_scale][min(self.steps, 2)]
            deviation = mean - before
            self.steps = min(self.steps + 1, 50)
            weight = max(0.02, 1 / self.steps)
            moved = before + weight * np.clip(deviation, -np.log(4), np.log(4))
            self.log_scale = float(np.float32(moved))
        limit = self.clip * math.exp(self.log_scale)
        if first:
            limit = 0.0 if sample.size else math.inf
        changed = np.clip(flat * min(1.0, 4 * math.exp(-deviation)), -limit, limit)
        changed[~np.isfinite(changed)] = 0.0
        return changed.reshape(np.shape(gradient))


def assert_gradients_may_be_scaled(make, device="cpu"):
    """Steps with a gradient scaler, one of which overflows, beside steps without one."""
    ours, theirs = parameters(device=device), parameters(device=device)
    scaled, plain = make(ours), make(theirs)
    scaler = torch.amp.GradScaler(device, init_scale=1024.0, growth_interval=1000)
    scaler.scale(torch.zeros((), device=device))
    for step in range(6):
        fill(ours, step, scaler.get_scale() * (100 if step == 4 else 1))
        overflow = step == 2
        if overflow:
            ours[0].grad[0, 0] = INF
            before = states(ours, scaled)
        else:
            fill(theirs, step, 100 if step == 4 else 1)
            plain.step()
        scaler.step(scaled)
        scaler.update()
        if overflow:
            assert states(ours, scaled) == before
            assert scaler.get_scale() == 512
    np.testing.assert_allclose(states(ours, scaled), states(theirs, plain), atol=1e-6)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)
