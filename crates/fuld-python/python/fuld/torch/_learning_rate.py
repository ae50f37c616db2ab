"""Whether a learning rate can be."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor


def check_lr(lr: Any) -> None:  # noqa: ANN401
    """Raises an error if it is no learning rate; of a tensor only what can be known at once."""
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got one of shape {tuple(lr.shape)}")
        if lr.is_complex():
            raise TypeError(f"lr must be a real number, got {lr}")
    if not (lr >= 0 and lr < math.inf):
        raise ValueError(f"lr must be finite and not negative, got {lr}")
