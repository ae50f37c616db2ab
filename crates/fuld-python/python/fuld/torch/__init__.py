"""FULD as a PyTorch optimizer, a guard for any optimizer, and a monitor for the tails of gradients.

`FULD`
    SGD with momentum whose step goes through the field ∇G_α. It replaces `torch.optim.SGD` with the
    same learning rate, momentum and checkpoints, and at alpha = 2 with the same results to the bit.
`guard`
    Makes any optimizer clip gradients to their own usual size, so that training survives
    heavy-tailed noise, corrupted gradients and bursts.
`sampler`
    FULD as a sampler of posteriors, with stochastic gradients: pure functions of trees of tensors.
`TailMonitor`
    Estimates the tail index and the scale of the gradient noise, as a `GradientTail` per parameter.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("fuld.torch requires PyTorch: pip install torch") from error

from fuld.torch import sampler
from fuld.torch._fuld import FULD
from fuld.torch._gradient_tail import GradientTail
from fuld.torch._guard import guard
from fuld.torch._monitor import TailMonitor

__all__ = ["FULD", "GradientTail", "TailMonitor", "guard", "sampler"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
