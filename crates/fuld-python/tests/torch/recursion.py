"""The rule in double precision from the exact field, with nothing of the package's own step."""

import math
from typing import Any

import numpy as np
from fuld import grad_g


def recursion(
    start: Any,
    gradients: Any,
    *,
    lr: float,
    momentum: float = 0.9,
    alpha: float = 1.75,
    noise_scale: float = 1.0,
    beta: float = 1.0,
    form: str = "matched",
    weight_decay: float = 0.0,
    decoupled_weight_decay: bool = False,
    nesterov: bool = False,
    maximize: bool = False,
) -> tuple[Any, Any]:
    """Where it ends, and the last buffer."""
    x, b = start.numpy(), np.zeros(start.shape)
    slope = alpha ** (2 / alpha) * math.gamma(3 / alpha) / math.gamma(1 / alpha)
    for g in gradients.numpy():
        g = -g if maximize else g
        if decoupled_weight_decay:
            x = (1 - lr * weight_decay) * x
        else:
            g = g + weight_decay * x
        b = momentum * b + g
        u = g + momentum * b if nesterov else b
        if form == "matched":
            momentum_knee = noise_scale * (1 - momentum) ** (-1 / alpha)
            x = x - lr * momentum_knee / slope * grad_g(u / momentum_knee, alpha)
        else:
            v = -math.sqrt(lr) * u
            kappa = beta ** (-1 / alpha)
            x = x + math.sqrt(lr) * kappa ** (alpha - 1) * grad_g(v / kappa, alpha)
    return x, b
