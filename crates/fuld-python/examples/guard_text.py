#!/usr/bin/env python3
"""A language model with faulty gradients: the guard against clipping, and against nothing.

A small GPT learns English text, byte by byte. Its gradients are left as they are, or get a fault:
flipped exponent bits or infinities in one of 10^6 components, bursts (1 % of the steps are 1000
times as large), or symmetric stable noise of tail index 1.5. Every optimizer is tried with every
treatment of the gradients. Learning rates, and limits of clipping, are those with the lowest
validation loss on clean gradients and with noise, for a seed that is not used again.

  python guard_text.py TEXT --processes 2                two cores: half an hour
  python guard_text.py TEXT --clips 1 3 10 30            how to choose the guard's clip
  python guard_text.py TEXT --size large --device cuda   8 million parameters; H200: ten minutes

TEXT is a file of a few megabytes. Finished runs are kept in --runs, so that the command can be
stopped and started again.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from faults import FAULTS
from language_model import SIZES
from options import at_least_one, picture
from progress import Progress
from tables import cell
from text_run import TextRun, final_losses, use_one_thread

#: Learning rates that are tried, by optimizer.
RATES = {
    "SGD": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
    "AdamW": (2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3),
    "Lion": (3e-5, 1e-4, 3e-4, 1e-3, 3e-3),
}
#: The treatments, each in the forms among which the best is chosen.
TREATMENTS = (
    ("nothing",),
    ("clip norm 0.3", "clip norm 1"),
    ("clip values 0.001", "clip values 0.01"),
    ("ZClip",),
    ("guard",),
)
#: Runs that train side by side in one process on a GPU.
ON_A_GPU = 5
#: Seed of the runs that choose learning rates and limits, and the faults of these runs.
TUNING, TUNED_FOR = 1000, ("clean", "stable noise")


class Study:
    """Runs with their losses, kept in a file."""

    def __init__(self, choice: argparse.Namespace, executor: Executor | None) -> None:
        self.size, self.text, self.device = choice.size, choice.text, choice.device
        self.path, self.executor = choice.runs, executor
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.losses: dict[str, float] = {
            json.dumps(found["run"]): found["loss"] for found in map(json.loads, lines)
        }

    def run(self, optimizer: str, treatment: str, fault: str, lr: float, seed: int) -> TextRun:
        """Return a run of this study."""
        return TextRun(self.size, optimizer, treatment, fault, lr, seed)

    def loss(self, run: TextRun) -> float:
        """Return the loss of a run that was trained."""
        return self.losses[_key(run)]

    def train(self, runs: Iterable[TextRun], what: str) -> None:
        """Train the runs that are not in the file."""
        missing = [run for run in runs if _key(run) not in self.losses]
        progress = Progress(len(missing), what)
        for together, losses in self._trained(missing):
            with self.path.open("a") as file:
                for run, loss in zip(together, losses, strict=True):
                    self.losses[_key(run)] = loss
                    file.write(json.dumps({"run": asdict(run), "loss": loss}) + "\n")
            progress.advance(len(together))

    def _trained(self, runs: list[TextRun]) -> Iterator[tuple[list[TextRun], list[float]]]:
        count = 1 if self.device == "cpu" else ON_A_GPU
        groups = [runs[i : i + count] for i in range(0, len(runs), count)]
        if self.executor is None:
            for group in groups:
                yield group, final_losses(group, self.text, self.device)
            return
        submitted = {
            self.executor.submit(final_losses, group, self.text, self.device): group
            for group in groups
        }
        for done in as_completed(submitted):
            yield submitted[done], done.result()

    def tuning(
        self, optimizer: str, forms: tuple[str, ...]
    ) -> dict[tuple[str, float], list[TextRun]]:
        """Return the runs that choose the form of a treatment and the learning rate, by choice."""
        return {
            (form, lr): [self.run(optimizer, form, fault, lr, TUNING) for fault in TUNED_FOR]
            for form in forms
            for lr in RATES[optimizer]
        }

    def tuned(self, optimizer: str, forms: tuple[str, ...]) -> tuple[str, float]:
        """Return the form and the learning rate that lose least runs, with the lowest losses."""
        tuning = self.tuning(optimizer, forms)

        def total(choice: tuple[str, float]) -> tuple[int, float]:
            losses = [self.loss(run) for run in tuning[choice]]
            kept = [loss for loss in losses if math.isfinite(loss)]
            return len(losses) - len(kept), sum(kept)

        return min(tuning, key=total)


def _key(run: TextRun) -> str:
    return json.dumps(asdict(run))


def main() -> None:
    """Train, and print one table per optimizer."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path, help="a file with text")
    parser.add_argument("--size", choices=SIZES, default="small", help="of the model (small)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (cpu)")
    parser.add_argument("--seeds", type=at_least_one, default=5, help="runs of each kind (5)")
    parser.add_argument("--runs", type=Path, default=Path("guard_text.jsonl"), help="finished runs")
    parser.add_argument(
        "--processes", type=at_least_one, default=1, help="processes that train side by side (1)"
    )
    parser.add_argument(
        "--optimizers", nargs="+", choices=RATES, default=["SGD", "AdamW", "Lion"], metavar="NAME"
    )
    parser.add_argument("--out", type=picture, help="also draw a figure: .png, .svg or .pdf")
    parser.add_argument(
        "--clips", nargs="+", metavar="C", help="compare guards with these clips, and nothing else"
    )
    choice = parser.parse_args()
    with ExitStack() as stack:
        executor = None
        if choice.processes > 1:
            executor = stack.enter_context(
                ProcessPoolExecutor(
                    choice.processes, get_context("spawn"), initializer=use_one_thread
                )
            )
        else:
            use_one_thread()
        show_tables(Study(choice, executor), choice)


def show_tables(study: Study, choice: argparse.Namespace) -> None:
    """Train, and print one table per optimizer."""
    treatments: tuple[tuple[str, ...], ...] = TREATMENTS
    if choice.clips:
        treatments = (("nothing",), *((f"guard {clip}",) for clip in choice.clips))
    pairs = [(optimizer, forms) for optimizer in choice.optimizers for forms in treatments]
    tuning = [run for pair in pairs for runs in study.tuning(*pair).values() for run in runs]
    study.train(tuning, "the runs that choose learning rates")
    tuned = {pair: study.tuned(*pair) for pair in pairs}
    runs = {
        pair: {
            fault: [study.run(pair[0], form, fault, lr, seed) for seed in range(choice.seeds)]
            for fault in FAULTS
        }
        for pair, (form, lr) in tuned.items()
    }
    study.train((run for of in runs.values() for same in of.values() for run in same), "the runs")
    losses = {
        optimizer: {
            tuned[pair][0]: {fault: list(map(study.loss, of)) for fault, of in runs[pair].items()}
            for pair in pairs
            if pair[0] == optimizer
        }
        for optimizer in choice.optimizers
    }
    rates = {(optimizer, form): lr for (optimizer, _), (form, lr) in tuned.items()}
    for optimizer, of in losses.items():
        print(f"\n| {' | '.join(['', 'lr', *FAULTS])} |\n|{'---|' * (2 + len(FAULTS))}")
        for form, by_fault in of.items():
            cells = " | ".join(map(cell, by_fault.values()))
            print(f"| {optimizer}, {form} | {rates[optimizer, form]:g} | {cells} |")
        print()
    if choice.out is not None:
        from guard_text_figure import draw

        draw(losses, choice.out)


if __name__ == "__main__":
    main()
