"""Monitors of gradients with known noise."""

import math

import fuld
import numpy as np
import torch
from fuld.torch import TailMonitor


def parameters(*sizes, dtype=torch.float32):
    return [torch.nn.Parameter(torch.zeros(size, dtype=dtype)) for size in sizes]


def scales(param, seed=0):
    """Of the coordinates: four decades."""
    uniform = np.random.default_rng(seed).uniform(-4, 0, param.numel())
    return torch.tensor(10**uniform).reshape(param.shape)


def geometric_mean(numbers):
    return math.exp(numbers.log().mean())


class StableGradients:
    """Give parameters SaS gradients about a mean that drifts, each coordinate of its own scale."""

    def __init__(self, alpha, params, seed=1):
        self.law = fuld.SymmetricStable(alpha)
        self.random = np.random.default_rng(seed)
        self.params = list(params)
        self.scales = [scales(param) for param in self.params]
        self.step = 0

    def fill(self):
        self.step += 1
        for param, scale in zip(self.params, self.scales, strict=True):
            noise = self.law.rvs(size=tuple(param.shape), random_state=self.random)
            mean = 20 * math.cos(self.step / 300)
            param.grad = (scale * (torch.tensor(noise) + mean)).to(param.dtype)

    def train(self, optimizer, steps):
        for _ in range(steps):
            self.fill()
            optimizer.step()


def watched(*sizes, **settings):
    """Parameters, an optimizer and its monitor."""
    params = parameters(*sizes)
    optimizer = torch.optim.SGD(params, lr=0.0, momentum=0.9)
    return params, optimizer, TailMonitor(optimizer, **settings)


def sgd_with_knee(params, lr=0.0, momentum=0.5, **settings):
    """Return SGD whose groups have the settings of FULD's knee."""
    optimizer = torch.optim.SGD(params, lr=lr, momentum=momentum)
    optimizer.param_groups[0].update(settings)
    return optimizer


def same(one, other):
    """Whether two reports agree, also in their missing values."""
    return repr(one) == repr(other)
