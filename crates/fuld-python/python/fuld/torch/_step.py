"""The coefficients of one step: x ← keep x; b ← momentum b + g; x ← x - outer ∇G(inner b).

`Step` computes them from the settings of a parameter group. All implementations of the step (fused,
foreach, single tensor) take a `Step`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from torch import Tensor

from fuld import _native
from fuld.torch._constant import constant
from fuld.torch._learning_rate import check_lr

# Computing them takes microseconds, which is measurable in a step of small tensors.
_factors = lru_cache(maxsize=256)(_native.step_factors)


@constant
def factors(
    alpha: float, momentum: float, noise_scale: float | None, beta: float | None
) -> tuple[float, float]:
    """Return `inner` and `outer` of x ← x - outer ∇G(inner b) at learning rate 1.

    The form is the matched one if `noise_scale` is given and the paper's if `beta` is.
    """
    return _factors(alpha, momentum, noise_scale=noise_scale, beta=beta)


def knee_settings(group: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return `noise_scale` and `beta` of a group; None stands for that of the other form."""
    if group["form"] == "paper":
        return None, float(group["beta"])
    return float(group["noise_scale"]), None


def inner_factor(
    alpha: float,
    momentum: float,
    noise_scale: float | None,
    beta: float | None,
    lr: float | Tensor,
) -> float | Tensor:
    """Return the factor of b inside the field."""
    inner = factors(alpha, momentum, noise_scale, beta)[0]
    return inner if beta is None else inner * lr**0.5


@dataclass(frozen=True)
class Step:
    """x ← keep x; b ← momentum b + g; x ← x - outer ∇G(inner b).

    `inner`, `outer` and `keep` are tensors if the learning rate is one. The form is the matched one
    with `noise_scale`, and the paper's with `beta`; exactly one of the two is given.
    """

    alpha: float
    lr: float | Tensor
    momentum: float
    weight_decay: float
    decoupled: bool
    nesterov: bool
    maximize: bool
    noise_scale: float | None = None
    beta: float | None = None
    clip: float | None = None
    """The clip of a guard within the step, if there is one."""

    @staticmethod
    def of(group: dict[str, Any], clip: float | None = None) -> Step:
        """Return the step of a group.

        The learning rate is checked, since a scheduler or a user may have changed it.
        """
        if not isinstance(group["lr"], Tensor):
            check_lr(group["lr"])
        lr = group["lr"]
        noise_scale, beta = knee_settings(group)
        return Step(
            alpha=group["alpha"],
            # A tensor lr may have dimensions, which would broadcast to the parameters.
            lr=lr.reshape(()) if isinstance(lr, Tensor) else lr,
            momentum=group["momentum"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            noise_scale=noise_scale,
            beta=beta,
            clip=clip,
        )

    @property
    def form(self) -> str:
        """The form, which follows from the setting of the knee."""
        return "matched" if self.beta is None else "paper"

    @property
    def factors(self) -> tuple[float, float]:
        """`inner` and `outer` at learning rate 1."""
        return factors(self.alpha, self.momentum, self.noise_scale, self.beta)

    @property
    def inner(self) -> float | Tensor:
        """The factor of b inside the field."""
        inner = self.factors[0]
        return inner if self.beta is None else inner * self.lr**0.5

    @property
    def outer(self) -> float | Tensor:
        """The factor of the field."""
        outer = self.factors[1]
        return outer * (self.lr if self.beta is None else self.lr**0.5)

    @property
    def pull(self) -> float:
        """The coefficient of the weight decay that is added to gradients."""
        return 0.0 if self.decoupled else self.weight_decay

    @property
    def keep(self) -> float | Tensor:
        """The factor by which decoupled weight decay shrinks a parameter."""
        return 1 - self.lr * self.weight_decay if self.decoupled else 1.0
