#!/usr/bin/env python3
"""Training under heavy-tailed gradients: SGD fails, and FULD that is matched to them does not.

A network of four layers learns handwritten digits, by SGD with lr 0.01 and momentum 0.99 and by
others at the same lr and momentum. Symmetric stable noise is added to every gradient: of tail index
1.5, of 1.2, and none for comparison. All methods start from the same weights and see the same
minibatches and the same noise.

  SGD                 with momentum
  Adam                lr 0.001, as a landmark
  FULD, paper's form  whose knee is the paper's, wherever the gradients are
  SGD, clip 0.05      on gradients cut off at this value,
  SGD, clip 0.005     and at the one that a search finds
  FULD, matched       with the tail index and the scale of the noise, and nothing searched; without
                      noise as for 1.5
  SGD, guard          on gradients clipped to their own usual size, nothing given

  python injected_noise.py                         the digits of this repository, 2 minutes
  python injected_noise.py --data FOLDER           MNIST in its publisher's files, 600 steps
  python injected_noise.py --data FOLDER --full    1500 steps, as in the documentation: 10 minutes
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import fuld
import numpy as np
import options
import torch
from fuld.torch import FULD, guard
from images import Images, MissingError, load
from network import make_network, measure, minibatches
from progress import Progress
from torch import Tensor
from torch.nn.functional import cross_entropy

LR, MOMENTUM, BATCH, WIDTH, DEPTH = 0.01, 0.99, 128, 256, 4
# Of the noise: what SGD does not bear within the steps of the example.
SCALES = {"digits": 3e-3, "MNIST": 1e-3}
# None is for gradients as they are, where FULD's alpha is this:
WITHOUT_NOISE = 1.5
NOISES = (None, 1.5, 1.2)
EVERY = 50
Weights = Iterable[torch.nn.Parameter]
Accuracy = list[tuple[int, float]]
"""Steps, and the share of the test set that is classified rightly."""


def methods(alpha: float, scale: float) -> dict[str, Callable[[Weights], torch.optim.Optimizer]]:
    """Makers of the optimizers, by name."""

    def sgd(weights: Weights) -> torch.optim.Optimizer:
        return torch.optim.SGD(weights, LR, MOMENTUM)

    return {
        "SGD": sgd,
        "Adam": lambda weights: torch.optim.Adam(weights, lr=1e-3),
        "FULD, paper's form": lambda weights: FULD(weights, LR, MOMENTUM, alpha, form="paper"),
        "SGD, clip 0.05": sgd,
        "SGD, clip 0.005": sgd,
        "FULD, matched": lambda weights: FULD(weights, LR, MOMENTUM, alpha, noise_scale=scale),
        "SGD, guard": lambda weights: guard(torch.optim.SGD(weights, LR, MOMENTUM)),
    }


def train(
    images: Images,
    alpha: float | None,
    scale: float,
    seed: int,
    steps: int,
    progress: Progress,
) -> dict[str, Accuracy]:
    """Trains by all methods side by side."""
    torch.manual_seed(seed)
    first = make_network(images, WIDTH, DEPTH)
    makers = methods(alpha or WITHOUT_NOISE, scale)
    networks = {name: make_network(images, WIDTH, DEPTH) for name in makers}
    for network in networks.values():
        network.load_state_dict(first.state_dict())
    optimizers = {name: make(networks[name].parameters()) for name, make in makers.items()}
    curves: dict[str, Accuracy] = {name: [] for name in makers}
    shapes = [weight.shape for weight in first.parameters()]
    batches = minibatches(len(images.train), BATCH, torch.Generator().manual_seed(seed))
    generator = np.random.default_rng(seed)
    for step in range(1, steps + 1):
        index = next(batches)
        x, y = images.train[index], images.train_labels[index]
        noise = [draw_noise(alpha, scale, shape, generator) for shape in shapes]
        for name, network in networks.items():
            network.zero_grad()
            cross_entropy(network(x), y).backward()
            for weight, extra in zip(network.parameters(), noise, strict=True):
                if weight.grad is not None:
                    weight.grad += extra
            if "clip" in name:
                torch.nn.utils.clip_grad_value_(network.parameters(), float(name.split()[-1]))
            optimizers[name].step()
            if step % EVERY == 0 or step == steps:
                curves[name].append((step, accuracy(network, images)))
        progress.advance()
    return curves


def draw_noise(
    alpha: float | None, scale: float, shape: torch.Size, generator: np.random.Generator
) -> Tensor:
    """Return the noise that is added to the gradient of a layer."""
    if alpha is None:
        return torch.zeros(shape)
    draws = fuld.SymmetricStable(alpha, scale=scale).rvs(tuple(shape), random_state=generator)
    return torch.from_numpy(draws).float()


def accuracy(network: torch.nn.Module, images: Images) -> float:
    """The share of the test set classified rightly; a network that is not finite knows nothing."""
    loss, share = measure(network, images)
    return share if math.isfinite(loss) else 0.1


def heading(noise: float | None) -> str:
    """What stands above a column and a panel."""
    return "no noise" if noise is None else f"noise α = {noise:g}"


def report(results: dict[float | None, list[dict[str, Accuracy]]]) -> None:
    """Prints the accuracies at the end, as mean and standard deviation over the seeds."""
    print(f"{'test accuracy, %':20}" + "".join(f"{heading(noise):>18}" for noise in results))
    for name in next(iter(results.values()))[0]:
        line = f"{name:20}"
        for runs in results.values():
            ends = [100 * run[name][-1][1] for run in runs]
            spread = f" ± {statistics.stdev(ends):4.1f}" if len(ends) > 1 else ""
            line += f"{f'{statistics.mean(ends):.1f}{spread}':>18}"
        print(line)


def main() -> None:
    """Trains, prints and draws."""
    parser = options.parser(__doc__ or "", "injected_noise.png")
    parser.add_argument("--data", type=Path, help="folder with MNIST's files (built-in digits)")
    parser.add_argument(
        "--noise-scale",
        type=float,
        help="scale of the noise (0.003 for the digits, 0.001 for MNIST)",
    )
    parser.add_argument("--seeds", type=options.at_least_one, default=3, help="runs of each (3)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--steps", type=options.at_least_one, default=600, help="steps (600)")
    length.add_argument(
        "--full", dest="steps", action="store_const", const=1500, help="the same as --steps 1500"
    )
    choice = options.parse(parser)
    from injected_noise_figure import draw

    torch.set_num_threads(1)
    try:
        images = load(choice.data)
        scale = SCALES[images.name] if choice.noise_scale is None else choice.noise_scale
        fuld.SymmetricStable(1.5, scale=scale)
    except (MissingError, ValueError) as error:
        sys.exit(str(error))
    steps = choice.steps
    progress = Progress(steps * choice.seeds * len(NOISES), "the steps")
    seeds = range(choice.seed, choice.seed + choice.seeds)
    results = {
        noise: [train(images, noise, scale, seed, steps, progress) for seed in seeds]
        for noise in NOISES
    }
    print(f"{images.name}, {DEPTH} layers of width {WIDTH}, {steps} steps, seeds: {choice.seeds}")
    print(f"lr {LR:g}, momentum {MOMENTUM:g}, batches of {BATCH}, noise of scale {scale:g}\n")
    report(results)
    draw(
        {
            heading(noise) + ("" if noise else f" (FULD: α = {WITHOUT_NOISE:g})"): runs
            for noise, runs in results.items()
        },
        choice.out,
        images.name,
    )


if __name__ == "__main__":
    main()
