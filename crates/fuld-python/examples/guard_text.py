#!/usr/bin/env python3
"""A language model with faulty gradients: the guard against clipping, and against nothing.

A small GPT learns English text, byte by byte. Its gradients are left as they are, or get a fault:
flipped exponent bits or infinities in one of 10^6 components, bursts (1 % of the steps are 1000
times as large), or symmetric stable noise of tail index 1.5. Every optimizer is tried with every
treatment of the gradients. Learning rates, and limits of clipping, are those with the lowest
validation loss on clean gradients and with noise, for a seed that is not used again.

  python guard_text.py TEXT                              two cores: about an hour
  python guard_text.py TEXT --clips 1 3 10 30            how to choose the guard's clip
  python guard_text.py TEXT --size large --device cuda   8 million parameters, on a GPU

TEXT is a file of a few megabytes. Finished runs are kept in --runs, so that the command can be
stopped and started again.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import torch
from faults import FAULTS
from language_model import SIZES, LanguageModel, Text
from options import at_least_one
from tables import cell
from treatments import make_optimizer, make_treatment

#: Learning rates that are tried, by optimizer.
RATES = {
    "SGD": (0.03, 0.1, 0.3, 1.0, 3.0),
    "AdamW": (2e-3, 4e-3, 8e-3),
    "Lion": (3e-4, 1e-3, 3e-3),
}
#: The treatments, each with the forms among which the best is chosen.
TREATMENTS = {
    "nothing": ("nothing",),
    "clip norm": ("clip norm 1",),
    "clip values": ("clip values 0.001", "clip values 0.01"),
    "ZClip": ("ZClip",),
    "guard": ("guard",),
}
#: Seed of the runs that choose learning rates and limits.
TUNING = 1000
#: Part of every run's key: raised when results change.
VERSION = 2


class Study:
    """Runs by their settings, kept in a file."""

    def __init__(self, choice: argparse.Namespace) -> None:
        self.size, self.path, self.device = choice.size, choice.runs, choice.device
        self.text = Text(choice.text, choice.device)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.done: dict[str, float] = {
            self._key(run): run["loss"] for run in map(json.loads, lines)
        }

    def _key(self, run: dict[str, Any]) -> str:
        return json.dumps({k: v for k, v in run.items() if k not in ("loss", "seconds")})

    def loss(self, optimizer: str, treatment: str, fault: str, lr: float, seed: int) -> float:
        """Return the validation loss at the end of a run; infinite if the model is not finite."""
        run = {
            "version": VERSION,
            "size": self.size,
            "optimizer": optimizer,
            "treatment": treatment,
            "fault": fault,
            "lr": lr,
            "seed": seed,
        }
        key = self._key(run)
        if key not in self.done:
            began = time.monotonic()
            loss = self._train(optimizer, treatment, fault, lr, seed)
            self.done[key] = loss
            seconds = time.monotonic() - began
            with self.path.open("a") as file:
                file.write(json.dumps({**run, "loss": loss, "seconds": round(seconds, 1)}) + "\n")
            print(f"{optimizer:6} {treatment:18} {fault:13} lr {lr:<7g} seed {seed:<5} {loss:.3f}")
        return self.done[key]

    def _train(self, optimizer: str, treatment: str, fault: str, lr: float, seed: int) -> float:
        size = SIZES[self.size]
        torch.manual_seed(seed)
        model = LanguageModel(size).to(self.device)
        params = list(model.parameters())
        step = make_optimizer(optimizer, treatment, params, lr)
        treat, spoil = make_treatment(treatment), FAULTS[fault]
        batches = torch.Generator().manual_seed(seed)
        spoiling = torch.Generator().manual_seed(seed + 1)
        for k in range(size.steps):
            # A linear warm-up over a twentieth of the steps, then a cosine to a tenth.
            done = k / size.steps
            rate = min(20 * (k + 1) / size.steps, 0.55 + 0.45 * math.cos(math.pi * done))
            for group in step.param_groups:
                group["lr"] = rate * lr
            step.zero_grad()
            model(self.text.minibatch(size, batches)).backward()
            spoil([p.grad for p in params if p.grad is not None], spoiling)
            treat(params)
            step.step()
        loss = self.text.loss(model, size)
        return loss if math.isfinite(loss) else math.inf

    def tuned(self, optimizer: str, forms: tuple[str, ...]) -> tuple[str, float]:
        """Return the form of a treatment and the learning rate with the lowest losses."""
        candidates = [(form, lr) for form in forms for lr in RATES[optimizer]]

        def total(candidate: tuple[str, float]) -> tuple[int, float]:
            form, lr = candidate
            faults = ("clean", "stable noise")
            losses = [self.loss(optimizer, form, fault, lr, TUNING) for fault in faults]
            kept = [loss for loss in losses if math.isfinite(loss)]
            return len(losses) - len(kept), sum(kept)

        return min(candidates, key=total)


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
        "--optimizers", nargs="+", choices=RATES, default=["SGD", "AdamW", "Lion"], metavar="NAME"
    )
    parser.add_argument(
        "--clips", nargs="+", metavar="C", help="compare guards with these clips, and nothing else"
    )
    choice = parser.parse_args()
    treatments = list(TREATMENTS.values())
    if choice.clips:
        treatments = [("nothing",), *((f"guard {clip}",) for clip in choice.clips)]
    study, seeds = Study(choice), range(choice.seeds)
    for optimizer in choice.optimizers:
        rows = []
        for forms in treatments:
            form, lr = study.tuned(optimizer, forms)
            losses = {
                fault: [study.loss(optimizer, form, fault, lr, seed) for seed in seeds]
                for fault in FAULTS
            }
            cells = [cell(of) for of in losses.values()]
            rows.append([f"{optimizer}, {form}", f"{lr:g}", *cells])
        print(f"\n| {' | '.join(['', 'lr', *FAULTS])} |\n|{'---|' * (2 + len(FAULTS))}")
        for row in rows:
            print(f"| {' | '.join(row)} |")
        print()


if __name__ == "__main__":
    main()
