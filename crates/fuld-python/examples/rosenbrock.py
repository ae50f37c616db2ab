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

import fuld
import numpy as np
import numpy.typing as npt
import options
import torch
from fuld.torch import FULD
from landscapes import LANDSCAPES, Landscape
from torch import Tensor

NOISE_ALPHA = 1.2
MOMENTUM = 0.9
Floats = npt.NDArray[np.float64]


def methods(place: Landscape) -> dict[str, Callable[[list[Tensor]], torch.optim.Optimizer]]:
    """Makers of the optimizers, by name."""

    def make_fuld(alpha: float) -> Callable[[list[Tensor]], torch.optim.Optimizer]:
        return lambda x: FULD(x, place.lr, MOMENTUM, alpha, noise_scale=place.noise)

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
        place.f(x[:, 0], x[:, 1]).sum().backward()
        if noise is not None and x.grad is not None:
            x.grad += noise[step]
        optimizer.step()
        way.append(x.detach().numpy().copy())
    return np.array(way)


def report(place: Landscape, clean: dict[str, Floats], noisy: dict[str, Floats]) -> None:
    """Prints where the runs are in the end."""
    print(f"{place.name}, lr {place.lr:g}, momentum {MOMENTUM:g}, {place.steps} steps")
    print(
        f"{'':10}    exact       under noise of tail index {NOISE_ALPHA} and scale {place.noise:g}"
    )
    print(f"{'':10}        f  median f    90 % below    outside the picture")
    left, right, bottom, top = place.box
    for name, way in noisy.items():
        ends = place.along(way[-1])
        x, y = way[-1].T
        outside = ~((left <= x) & (x <= right) & (bottom <= y) & (y <= top))
        exact = place.along(clean[name][-1])[0]
        ninth = np.sort(ends)[int(0.9 * len(ends))]
        print(f"{name:10} {exact:8.3g} {np.median(ends):9.3g} {ninth:13.3g} {outside.mean():18.0%}")
    print()


def main() -> None:
    """Runs both landscapes."""
    parser = options.parser(__doc__ or "", "rosenbrock.png")
    parser.add_argument("--runs", type=options.at_least_one, default=200, help="noisy runs (200)")
    parser.add_argument("--steps", type=options.at_least_one, help="steps (1500 and 3000)")
    choice = options.parse(parser)
    from rosenbrock_figure import draw

    torch.set_num_threads(1)
    rows = []
    for place in LANDSCAPES:
        if choice.steps:
            place = Landscape(**{**vars(place), "steps": choice.steps})
        law = fuld.SymmetricStable(NOISE_ALPHA, scale=place.noise)
        noise = torch.from_numpy(law.rvs((place.steps, choice.runs, 2), random_state=choice.seed))
        makers = methods(place)
        clean = {name: descend(place, make, None, 1) for name, make in makers.items()}
        noisy = {name: descend(place, make, noise, choice.runs) for name, make in makers.items()}
        report(place, clean, noisy)
        rows.append((place, clean, noisy))
    draw(rows, choice.out)


if __name__ == "__main__":
    main()
