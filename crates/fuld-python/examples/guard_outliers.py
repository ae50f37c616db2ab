#!/usr/bin/env python3
"""Outliers in the data: squared loss on labels with Cauchy or Student t(1.5) noise.

One outlier makes the whole gradient of its minibatch large. A linear model and a small network
learn a function from noisy labels; what counts is the root mean square distance from the function
without noise. Learning rates, and limits of clipping, are those with the lowest error for a seed
that is not used again. The Huber loss, which knows about outliers, is a landmark.

  python guard_outliers.py             the table of the documentation: ten minutes on one core
  python guard_outliers.py --seeds 1   for a first look
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import cache

import torch
from options import at_least_one
from progress import Progress
from tables import cell
from torch import Tensor, nn
from torch.nn.functional import huber_loss, mse_loss
from treatments import make_optimizer, make_treatment

INPUTS, BATCH = 20, 32
NOISES = {"Cauchy": 1.0, "t(1.5)": 1.5}
"""Degrees of freedom of the labels' noise."""
RATES = {"SGD": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), "AdamW": (1e-3, 3e-3, 1e-2, 3e-2)}
TREATMENTS = {
    "nothing": ("nothing",),
    "clip norm": ("clip norm 0.1", "clip norm 1", "clip norm 10"),
    "clip values": ("clip values 0.01", "clip values 0.1", "clip values 1"),
    "ZClip": ("ZClip",),
    "guard": ("guard",),
    "Huber loss": ("Huber loss",),
}
TUNING = 1000
"""Seed of the runs that choose learning rates and limits."""


def problem(name: str, seed: int) -> tuple[Callable[[Tensor], Tensor], nn.Module]:
    """Return a function to learn, and the model that learns it."""
    torch.manual_seed(seed)
    weights = torch.randn(INPUTS, 1) / math.sqrt(INPUTS)
    if name == "linear":
        return lambda x: x @ weights, nn.Linear(INPUTS, 1)
    model = nn.Sequential(nn.Linear(INPUTS, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    model.append(nn.Linear(64, 1))
    return lambda x: torch.sin(2 * x @ weights) + x @ weights, model


@cache
def error(
    name: str, noise: str, optimizer: str, treatment: str, lr: float, seed: int, steps: int
) -> float:
    """Return the distance from the function at the end of a run."""
    function, model = problem(name, seed)
    params = list(model.parameters())
    step = make_optimizer(optimizer, treatment, params, lr)
    treat = make_treatment(treatment, torch.device("cpu"))
    loss = huber_loss if treatment == "Huber loss" else mse_loss
    law = torch.distributions.StudentT(NOISES[noise])
    for k in range(steps):
        for group in step.param_groups:
            group["lr"] = lr * (1 - k / steps)
        x = torch.randn(BATCH, INPUTS)
        step.zero_grad()
        loss(model(x), function(x) + law.sample((BATCH, 1))).backward()
        treat(params)
        step.step()
    with torch.no_grad():
        x = torch.randn(4096, INPUTS)
        distance = float((model(x) - function(x)).square().mean().sqrt())
    return distance if math.isfinite(distance) else math.inf


def main() -> None:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=at_least_one, default=5, help="runs of each kind (5)")
    parser.add_argument("--steps", type=at_least_one, default=1000, help="of each run (1000)")
    choice = parser.parse_args()
    seeds = range(choice.seeds)
    torch.set_num_threads(1)
    columns = [(name, noise) for name in ("linear", "network") for noise in NOISES]
    forms = sum(map(len, TREATMENTS.values()))
    tuning = len(columns) * forms * sum(map(len, RATES.values()))
    progress = Progress(
        tuning + len(columns) * len(TREATMENTS) * len(RATES) * len(seeds), "the runs"
    )
    print(f"| | {' | '.join(f'{name}, {noise}' for name, noise in columns)} |")
    print(f"|{'---|' * (1 + len(columns))}")
    for optimizer, rates in RATES.items():
        for treatment, candidates in TREATMENTS.items():
            cells = []
            for column in columns:
                tried = {}
                for form in candidates:
                    for lr in rates:
                        tried[form, lr] = error(*column, optimizer, form, lr, TUNING, choice.steps)
                        progress.advance()
                form, lr = min(tried, key=lambda key: tried[key])
                errors = []
                for seed in seeds:
                    errors.append(error(*column, optimizer, form, lr, seed, choice.steps))
                    progress.advance()
                cells.append(cell(errors))
            print(f"| {optimizer}, {treatment} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
