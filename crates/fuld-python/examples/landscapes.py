"""The two landscapes of `rosenbrock.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Landscape:
    """A function of the plane, and how it is gone down."""

    name: str
    f: Callable[[Any, Any], Any]
    start: tuple[float, float]
    box: tuple[float, float, float, float]
    """The region that is drawn: x from, to, y from, to."""
    levels: Floats
    """Contours."""
    lr: float
    steps: int
    noise: float
    """Scale of the noise."""

    lowest: tuple[float, float]
    """Where the minimum is."""
    span: tuple[float, float]
    """Which f are drawn."""

    def along(self, way: Floats) -> Floats:
        """The values of f along a way, infinite for runs that have left the doubles."""
        with np.errstate(over="ignore", invalid="ignore"):
            f = self.f(way[..., 0], way[..., 1])
        return np.where(np.isfinite(f), f, np.inf)

    def greys(self) -> list[str]:
        """From white where it is lowest."""
        return [str(grey) for grey in np.linspace(1, 0.72, len(self.levels) + 1)]


def rosenbrock(x: Any, y: Any) -> Any:  # noqa: ANN401
    """The minimum is 0, at (1, 1)."""
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def rastrigin(x: Any, y: Any) -> Any:  # noqa: ANN401
    """The minimum is 0, at (0, 0), and there is a well at every other pair of integers."""
    cos = torch.cos if isinstance(x, Tensor) else np.cos
    return 20 + x**2 + y**2 - 10 * (cos(2 * np.pi * x) + cos(2 * np.pi * y))


LANDSCAPES = (
    Landscape(
        "Rosenbrock",
        rosenbrock,
        (-1.5, 2.0),
        (-1.9, 1.7, -0.9, 2.6),
        np.geomspace(1, 1000, 7),
        lr=5e-4,
        steps=1500,
        noise=5.0,
        lowest=(1, 1),
        span=(0.05, 1e4),
    ),
    Landscape(
        "Rastrigin",
        rastrigin,
        (3.45, -2.55),
        (-5.4, 5.4, -5.4, 5.4),
        np.array([5.0, 15, 25, 35, 50, 65]),
        lr=2e-3,
        steps=3000,
        noise=10.0,
        lowest=(0, 0),
        span=(3, 300),
    ),
)
