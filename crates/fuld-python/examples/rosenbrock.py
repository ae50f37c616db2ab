#!/usr/bin/env python3
"""FULD beside SGD and Adam on two landscapes, with exact gradients and under heavy-tailed noise.

Rosenbrock's valley is curved and narrow; Rastrigin's plane is full of wells, the deepest in the
centre. With exact gradients FULD is SGD but for the first steps down the steepest wall. Then
symmetric stable noise of tail index 1.2 is added to every gradient, the same for all methods, and
FULD is told its scale. Many runs go side by side, in one tensor: every row is a run.

  python rosenbrock.py                       the figure, and a table of where the runs end
  python rosenbrock.py --seed 7 --runs 50    other noise, fewer runs
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import drawing
import fuld
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import options
import torch
from fuld.torch import FULD
from matplotlib.axes import Axes
from torch import Tensor

NOISE_ALPHA = 1.2
MOMENTUM = 0.9
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Landscape:
    """A function of the plane, and how it is gone down."""

    name: str
    height: Callable[[Any, Any], Any]
    start: tuple[float, float]
    box: tuple[float, float, float, float]
    """What is drawn: x from, to, y from, to."""
    levels: Floats
    lr: float
    steps: int
    noise: float
    """Scale of the noise."""

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
    ),
)


def methods(place: Landscape) -> dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]]:
    """Makers of the optimizers, by name."""

    def make_fuld(alpha: float) -> Callable[[list[Tensor]], torch.optim.Optimizer]:
        return lambda x: FULD(x, place.lr, MOMENTUM, alpha, scale=place.noise)

    return {
        "SGD": lambda x: torch.optim.SGD(x, place.lr, MOMENTUM),
        "Adam": lambda x: torch.optim.Adam(x, lr=0.02),
        "FULD 1.75": make_fuld(1.75),
        "FULD 1.5": make_fuld(1.5),
        "FULD 1.2": make_fuld(1.2),
    }


def descend(
    place: Landscape,
    make: Callable[[list[Tensor]], torch.optim.Optimizer],
    noise: Tensor | None,
    runs: int,
) -> Floats:
    """The ways of all runs: [steps + 1, runs, 2]."""
    x = torch.tensor([place.start] * runs, dtype=torch.float64, requires_grad=True)
    optimizer = make([x])
    way = [x.detach().numpy().copy()]
    for step in range(place.steps):
        optimizer.zero_grad()
        place.height(x[:, 0], x[:, 1]).sum().backward()
        if noise is not None and x.grad is not None:
            x.grad += noise[step]
        optimizer.step()
        way.append(x.detach().numpy().copy())
    return np.array(way)


def heights(place: Landscape, way: Floats) -> Floats:
    """The height along a way; runs that have left the doubles are infinitely high."""
    with np.errstate(over="ignore", invalid="ignore"):
        height = place.height(way[..., 0], way[..., 1])
    return np.where(np.isfinite(height), height, np.inf)


def draw_map(axes: Axes, place: Landscape, ways: dict[str, Floats], title: str) -> None:
    """The first run of each method over the contours."""
    left, right, bottom, top = place.box
    x, y = np.meshgrid(np.linspace(left, right, 300), np.linspace(bottom, top, 300))
    height = place.height(x, y)
    axes.contourf(x, y, height, place.levels, colors=place.greys(), extend="both")
    for name, way in ways.items():
        # Behind the others, since under noise it is everywhere.
        opacity = 0.6 if name == "SGD" else 1.0
        axes.plot(*way[:, 0].T, color=drawing.COLOURS[name], linewidth=0.8, alpha=opacity)
    for name, way in ways.items():
        axes.plot(*way[-1, 0], "o", color=drawing.COLOURS[name], markeredgecolor="white", ms=6.5)
    axes.plot(*place.start, "o", color="white", markeredgecolor=drawing.INK, ms=6)
    lowest = (1, 1) if place.height is rosenbrock else (0, 0)
    axes.plot(*lowest, "*", color="white", markeredgecolor=drawing.INK, ms=12)
    axes.set(xlim=(left, right), ylim=(bottom, top), title=f"{place.name}, {title}")


def draw_heights(axes: Axes, place: Landscape, noisy: dict[str, Floats]) -> None:
    """The median of the runs, and where the middle half of them is."""
    low, high = (0.05, 1e4) if place.height is rosenbrock else (3, 300)
    ends = {}
    for name, way in noisy.items():
        colour = drawing.COLOURS[name]
        lower, median, upper = np.quantile(
            np.minimum(heights(place, way), 1e9), [0.25, 0.5, 0.75], axis=1
        )
        steps = np.arange(len(median))
        axes.fill_between(steps, lower, upper, color=colour, alpha=0.12, linewidth=0)
        axes.plot(steps, median, color=colour, linewidth=1.2)
        ends[name] = (place.steps, float(np.clip(np.median(median[-100:]), low, high)))
    axes.set(
        yscale="log",
        xlim=(0, place.steps),
        ylim=(low, high),
        xlabel="step",
        title=f"median of {next(iter(noisy.values())).shape[1]} noisy runs",
        ylabel="height",
    )
    drawing.label_ends(axes, ends)


def report(place: Landscape, clean: dict[str, Floats], noisy: dict[str, Floats]) -> None:
    """Prints where the runs are in the end."""
    print(f"{place.name}, lr {place.lr:g}, momentum {MOMENTUM:g}, {place.steps} steps")
    print(
        f"{'':10}    exact       under noise of tail index {NOISE_ALPHA} and scale {place.noise:g}"
    )
    print(f"{'':10}   height    median    90 % below    outside the picture")
    left, right, bottom, top = place.box
    for name, way in noisy.items():
        height = heights(place, way[-1])
        x, y = way[-1].T
        outside = ~((left <= x) & (x <= right) & (bottom <= y) & (y <= top))
        exact = heights(place, clean[name][-1])[0]
        ninth = np.sort(height)[int(0.9 * len(height))]
        print(
            f"{name:10} {exact:8.3g} {np.median(height):9.3g} {ninth:13.3g} {outside.mean():18.0%}"
        )
    print()


def main() -> None:
    """Runs both landscapes."""
    parser = options.parser(__doc__ or "", "rosenbrock.png")
    parser.add_argument("--runs", type=options.at_least_one, default=200, help="noisy runs (200)")
    parser.add_argument("--steps", type=options.at_least_one, help="steps (1500 and 3000)")
    choice = parser.parse_args()
    torch.set_num_threads(1)
    figure, grid = plt.subplots(
        2, 3, figsize=(11.4, 7.0), layout="constrained", width_ratios=[1, 1, 0.9]
    )
    for place, row in zip(LANDSCAPES, grid, strict=True):
        if choice.steps:
            place = Landscape(**{**vars(place), "steps": choice.steps})
        law = fuld.SymmetricStable(NOISE_ALPHA, scale=place.noise)
        noise = torch.from_numpy(law.rvs((place.steps, choice.runs, 2), random_state=choice.seed))
        makers = methods(place)
        clean = {name: descend(place, make, None, 1) for name, make in makers.items()}
        noisy = {name: descend(place, make, noise, choice.runs) for name, make in makers.items()}
        report(place, clean, noisy)
        draw_map(row[0], place, clean, "exact gradients")
        draw_map(row[1], place, noisy, "one noisy run")
        draw_heights(row[2], place, noisy)
    drawing.save(figure, choice.out)


if __name__ == "__main__":
    main()
