#!/usr/bin/env python3
"""A network trained by fuld.torch.FULD and by the Rust program: one curve, within seed noise.

Both train a network of four layers of width 256 without biases, with the paper's settings (eta and
gamma 0.1, alpha 1.75) and batches of 100, over several seeds. Weights and minibatches follow the
same laws, but other random numbers. So the curves of one seed differ, and those of many seeds must
not: an exact permutation test says how likely differences as large as those found are by chance.

  python mnist.py                            the digits of this repository, a minute
  python mnist.py --data FOLDER --seeds 8    MNIST in its publisher's files, as documented
  python mnist.py --noise-scale 0.001        the matched form instead of the paper's
  python mnist.py --alpha 1.75 --rust-alpha 1.2   is the test able to see a difference? (it is)
"""

from __future__ import annotations

import sys
from pathlib import Path

import comparison
import numpy as np
import numpy.typing as npt
import options
import rust_trainer
import torch
from fuld.torch import FULD
from images import Images, MissingError, load
from network import make_network, measure, minibatches
from progress import Progress
from torch.nn.functional import cross_entropy

ETA, GAMMA, BATCH, WIDTH, DEPTH = 0.1, 0.1, 100, 256, 4
Curves = npt.NDArray[np.float64]
"""For each seed and measurement the test loss and accuracy."""


def make_optimizer(network: torch.nn.Module, alpha: float, noise_scale: float | None) -> FULD:
    """The optimizer with the settings that `rust_options` gives to the program."""
    if noise_scale is None:
        return FULD.from_paper(network.parameters(), ETA, GAMMA, alpha)
    return FULD(network.parameters(), ETA**2, 1 - GAMMA * ETA, alpha, noise_scale=noise_scale)


def rust_options(alpha: float, noise_scale: float | None) -> dict[str, object]:
    """The same settings in the words of `fuld train`."""
    if noise_scale is None:
        return {"alpha": alpha, "eta": ETA, "gamma": GAMMA}
    return {
        "alpha": alpha,
        "lr": ETA**2,
        "momentum": 1 - GAMMA * ETA,
        "noise-scale": noise_scale,
    }


def train(
    images: Images, alpha: float, noise_scale: float | None, seed: int, steps: int, every: int
) -> list[tuple[float, float]]:
    """Train, and measure at the start and after every `every` steps."""
    torch.manual_seed(seed)
    network = make_network(images, WIDTH, DEPTH)
    optimizer = make_optimizer(network, alpha, noise_scale)
    batches = minibatches(len(images.train), BATCH, torch.Generator().manual_seed(seed))
    measured = [measure(network, images)]
    for step in range(1, steps + 1):
        index = next(batches)
        optimizer.zero_grad()
        cross_entropy(network(images.train[index]), images.train_labels[index]).backward()
        optimizer.step()
        if step % every == 0:
            measured.append(measure(network, images))
    return measured


def report(torch_curves: Curves, rust_curves: Curves) -> None:
    """Prints the ends of the curves, and what the test says of them."""
    print("means of the last two measurements, as in the paper, and deviations between seeds:")
    ends = [curves[:, -2:].mean(1) for curves in (torch_curves, rust_curves)]
    apart = comparison.standard_errors(*ends)
    print(f"{'':16}{'fuld.torch':>17}{'Rust':>18}{'difference':>22}")
    for i, (name, factor, digits) in enumerate((("test loss", 1, 4), ("test accuracy %", 100, 2))):
        line = f"{name:16}"
        for end in ends:
            mean, spread = end[:, i].mean() * factor, end[:, i].std(ddof=1) * factor
            line += f"{mean:9.{digits}f} ± {spread:.{digits}f}"
        print(f"{line}{apart[i]:+12.2f} standard errors")
    # At the start nothing has been trained.
    both = [np.log(curves[:, 1:, 0]) for curves in (torch_curves, rust_curves)]
    largest, chance = comparison.permutation_test(*both)
    print(
        f"\nover the whole curve of the loss: at most {largest:.2f} standard errors apart;\n"
        f"by chance so large or larger with probability {chance:.3f} (exact permutation test)"
    )
    verdict = "agree within seed noise" if chance > 0.01 else "DIFFER by more than seeds explain"
    print(f"the curves {verdict}")


def find_program(given: Path | None, rust_alpha: float | None) -> Path | None:
    """The Rust program; only one that nobody asked for may be missing."""
    try:
        return rust_trainer.find(given)
    except rust_trainer.TrainerError as error:
        if given is not None:
            sys.exit(f"--program: {error}")
        if rust_alpha is not None:
            sys.exit(f"--rust-alpha is for the Rust program, but {error}")
        print(f"{error}; without it there is only one side of the comparison", file=sys.stderr)
        return None


def main() -> None:
    """Trains on both sides, prints and draws."""
    parser = options.parser(__doc__ or "", "mnist.png")
    parser.add_argument("--data", type=Path, help="folder with MNIST's files (built-in digits)")
    parser.add_argument("--seeds", type=options.at_least_one, default=6, help="runs of each (6)")
    parser.add_argument("--steps", type=options.at_least_one, default=1000, help="steps (1000)")
    parser.add_argument("--alpha", type=float, default=1.75, help="tail index (1.75)")
    parser.add_argument("--noise-scale", type=float, help="noise scale of the matched form")
    parser.add_argument("--rust-alpha", type=float, help="another tail index for the Rust program")
    parser.add_argument("--program", type=Path, help="the program fuld")
    choice = options.parse(parser)
    from mnist_figure import draw

    if choice.seeds < 5:
        parser.error("--seeds must be at least 5: fewer cannot show that two curves differ")
    every = max(choice.steps // 10, 1)
    steps = choice.steps // every * every
    torch.set_num_threads(1)
    try:
        images = load(choice.data)
        make_optimizer(make_network(images, 1, 1), choice.alpha, choice.noise_scale)
    except (MissingError, ValueError) as error:
        sys.exit(str(error))
    program = find_program(choice.program, choice.rust_alpha)
    progress = Progress(choice.seeds * (2 if program else 1), "the runs")
    curves: dict[str, list[list[tuple[float, float]]]] = {"fuld.torch": []}
    seeds = range(choice.seed, choice.seed + choice.seeds)
    for seed in seeds:
        curves["fuld.torch"].append(
            train(images, choice.alpha, choice.noise_scale, seed, steps, every)
        )
        progress.advance()
        if program is None:
            continue
        settings = rust_options(choice.rust_alpha or choice.alpha, choice.noise_scale) | {
            "iterations": steps,
            "measure-every": every,
            "batch": BATCH,
            "width": WIDTH,
            "depth": DEPTH,
            "seed": seed,
        }
        try:
            measured = rust_trainer.train(program, choice.data, settings)
        except rust_trainer.TrainerError as error:
            sys.exit(str(error))
        curves.setdefault("Rust", []).append(
            [(m["test_loss"], m["test_accuracy"]) for m in measured]
        )
        progress.advance()
    arrays = {name: np.array(runs) for name, runs in curves.items()}
    form = (
        "the paper's form"
        if choice.noise_scale is None
        else f"matched form, noise scale {choice.noise_scale:g}"
    )
    seen = f"{choice.seeds} seeds" + (" of each program" if program else " of fuld.torch")
    print(f"{images.name}, {steps} steps, α = {choice.alpha:g}, {form}; {seen}\n")
    if len(arrays) == 2:
        report(arrays["fuld.torch"], arrays["Rust"])
    else:
        loss, share = arrays["fuld.torch"][:, -2:].mean((0, 1))
        print(
            f"test loss {loss:.4f}, test accuracy {share:.2%}: means of the last two measurements"
        )
    draw(arrays, np.arange(0, steps + 1, every), images.name, choice.out)


if __name__ == "__main__":
    main()
