"""The settings of `fuld.torch.sampler`, and the numbers of a step that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fuld import _arguments, _native
from fuld.torch._sampler_tree import numbers_of

_velocity_step = lru_cache(maxsize=256)(_native.velocity_step)
_field_factors = lru_cache(maxsize=256)(_native.field_factors)


@dataclass(frozen=True)
class Settings:
    """Tail index, inverse temperature, friction, step sizes and gradient noise of a sampler."""

    step: float | Callable[[int], float]
    alpha: float
    beta: float
    gamma: float
    noise_scale: Any
    """A number, or numbers in the tree of the parameters."""

    @staticmethod
    def checked(
        step: float | Callable[[int], float],
        alpha: float,
        beta: float,
        gamma: float,
        noise_scale: Any,  # noqa: ANN401
    ) -> Settings:
        """Return settings whose numbers are in range, as far as they are known before the steps."""
        given = step if callable(step) else _arguments.number("step", step)
        numbers = (
            _arguments.number("alpha", alpha),
            _arguments.number("beta", beta),
            _arguments.number("gamma", gamma),
        )
        settings = Settings(given, *numbers, noise_scale)
        _field_factors(settings.alpha, settings.beta)
        if isinstance(noise_scale, (int, float)):
            settings.relaxation(float(noise_scale), settings.step_size(0))
        return settings

    def step_size(self, k: int) -> float:
        """Return the size of step k; 0 before the first."""
        if k < 0:
            return 0.0
        return _arguments.number("step", self.step(k)) if callable(self.step) else self.step

    def noise_scales(self, structure: Any) -> list[float]:  # noqa: ANN401
        """Return the scale of the gradient noise of every tensor."""
        return numbers_of(self.noise_scale, structure, "noise_scale")

    def relaxation(self, noise_scale: float, eta: float) -> tuple[float, float]:
        """Return `decay` and `scale` of v ← decay v + scale ξ, friction and noise of a step."""
        return _velocity_step(self.alpha, self.beta, self.gamma, eta, noise_scale)

    @property
    def factors(self) -> tuple[float, float]:
        """`inner` and `outer` of the velocity of the position, outer ∇G(inner v)."""
        return _field_factors(self.alpha, self.beta)
