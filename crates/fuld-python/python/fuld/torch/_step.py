"""The numbers of one step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from torch import Tensor

from fuld import _native
from fuld.torch._calibration import Calibration
from fuld.torch._constant import constant
from fuld.torch._learning_rate import check_lr

# A few microseconds, which a step of small tensors would notice.
_factors = lru_cache(maxsize=256)(_native.step_factors)


@constant
def factors(form: str, alpha: float, momentum: float, scale: float) -> tuple[float, float]:
    """`inner` and `outer` of x ← x - outer ∇G(inner b) at learning rate 1."""
    return _factors(form, alpha, momentum, scale)


def inner_factor(
    form: str, alpha: float, momentum: float, scale: float, lr: float | Tensor
) -> float | Tensor:
    """The factor of b within the field."""
    return _at_lr(form, factors(form, alpha, momentum, scale)[0], lr)


def _at_lr(form: str, inner: float, lr: float | Tensor) -> float | Tensor:
    """The factor of b at this learning rate, from that at 1."""
    return inner * lr**0.5 if form == "paper" else inner


@dataclass(frozen=True)
class Step:
    """x ← keep x; b ← momentum b + g; x ← x - outer ∇G(inner b).

    inner, outer and keep are tensors where the learning rate is one.
    """

    alpha: float
    form: str
    scale: float
    lr: float | Tensor
    momentum: float
    weight_decay: float
    decoupled: bool
    nesterov: bool
    maximize: bool
    bend: float | None = None
    """Where b bends, if that does not follow from the scale."""

    @staticmethod
    def of(group: dict[str, Any], found: Calibration | None = None) -> Step:
        """The step of a parameter group, whose lr a scheduler or a user may have changed.

        For one of its tensors with what was found for it.
        """
        if not isinstance(group["lr"], Tensor):
            check_lr(group["lr"])
        lr = group["lr"]
        return Step(
            alpha=group["alpha"] if found is None else found.alpha,
            form=group["form"],
            scale=group["scale"] if found is None else math.nan,
            # A tensor lr may have dimensions, which parameters are not to get from it.
            lr=lr.reshape(()) if isinstance(lr, Tensor) else lr,
            momentum=group["momentum"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            bend=None if found is None else found.bend,
        )

    @property
    def factors(self) -> tuple[float, float]:
        """`inner` and `outer` at learning rate 1."""
        if self.bend is not None:
            return _native.bend_factors(self.alpha, self.momentum, self.bend)
        return factors(self.form, self.alpha, self.momentum, self.scale)

    @property
    def inner(self) -> float | Tensor:
        """The factor of b within the field."""
        return _at_lr(self.form, self.factors[0], self.lr)

    @property
    def outer(self) -> float | Tensor:
        """The factor of the field."""
        outer = self.factors[1]
        return outer * (self.lr**0.5 if self.form == "paper" else self.lr)

    @property
    def pull(self) -> float:
        """The weight decay that is added to gradients."""
        return 0.0 if self.decoupled else self.weight_decay

    @property
    def keep(self) -> float | Tensor:
        """What decoupled weight decay leaves of a parameter."""
        return 1 - self.lr * self.weight_decay if self.decoupled else 1.0
