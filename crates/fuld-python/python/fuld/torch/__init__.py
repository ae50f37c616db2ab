"""FULD as a PyTorch optimizer, and a monitor for the tails of gradients.

`FULD`
    SGD with momentum whose step goes through the field ∇G_α. It takes SGD's place: the same
    learning rate and momentum, the same checkpoints, and at alpha = 2 the same bits.
    With ``alpha="auto", scale="auto"`` it calibrates itself, a `Calibration` for each parameter.
`TailMonitor`
    What tail index and scale the noise of the gradients has, parameter by parameter: a
    `GradientTail` for each.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("fuld.torch needs PyTorch: pip install torch") from error

from fuld.torch._calibration import Calibration
from fuld.torch._fuld import FULD
from fuld.torch._gradient_tail import GradientTail
from fuld.torch._monitor import TailMonitor

__all__ = ["FULD", "Calibration", "GradientTail", "TailMonitor"]


def __dir__() -> list[str]:
    """What users see."""
    return __all__
