"""Calibrated optimizers that follow given noise, for the tests of alpha="auto"."""

from typing import Any

import fuld
import numpy as np
import torch
from fuld.torch import FULD

SHAPES = [(70, 33), (100,), (5,), ()]
AUTO: dict[str, Any] = {"alpha": "auto", "noise_scale": "auto"}
WAYS = ["single", "foreach", "fused", "default"]


class Noise:
    """Stable gradients about 0.01, the same for the same seed; alpha = 2 is Gaussian."""

    def __init__(self, alpha, scale=0.1, seed=1):
        self.law, self.scale = fuld.SymmetricStable(alpha), scale
        self.random = np.random.default_rng(seed)

    def fill(self, params):
        for x in params:
            draws = self.law.rvs(tuple(x.shape), random_state=self.random)
            gradient = 0.01 + self.scale * torch.as_tensor(np.asarray(draws))
            x.grad = gradient.to(x.dtype).to(x.device)

    def lead(self, params, optimizer, steps):
        for _ in range(steps):
            self.fill(params)
            optimizer.step()


def starts(shapes=SHAPES, dtype=torch.float32):
    random = torch.Generator().manual_seed(3)
    return [torch.randn(s, generator=random, dtype=torch.float64).to(dtype) for s in shapes]


def led(noise=1.4, steps=40, shapes=SHAPES, dtype=torch.float32, **settings):
    params = starts(shapes, dtype)
    optimizer = FULD(params, **{"lr": 0.01, **AUTO, **settings})
    Noise(noise).lead(params, optimizer, steps)
    return params, optimizer


def known(params, optimizer):
    return [optimizer.state[x]["calibration"] for x in params]
