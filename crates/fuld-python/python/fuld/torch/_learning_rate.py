"""The check of a learning rate."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor


def check_lr(lr: Any) -> None:  # noqa: ANN401
    """Raise an error if `lr` is not a valid learning rate."""
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got one of shape {tuple(lr.shape)}")
        if lr.is_complex():
            raise TypeError(f"lr must be a real number, got {lr}")
    if not (lr >= 0 and lr < math.inf):
        raise ValueError(f"lr must be finite and not negative, got {lr}")
