"""The figure of `injected_noise.py`: test error by step, a panel for each noise."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import drawing
import matplotlib.pyplot as plt

Run = Mapping[str, Sequence[tuple[int, float]]]
"""By method: steps, and the share of the test set that is classified rightly."""


def draw(panels: Mapping[str, Sequence[Run]], out: Path, what: str) -> None:
    """Panels by their titles: the mean over the seeds, and each seed thin."""
    figure, grid = plt.subplots(
        1, len(panels), figsize=(11.4, 3.7), layout="constrained", sharey=True
    )
    for axes, (title, runs) in zip(grid, panels.items(), strict=True):
        ends = {}
        for name in runs[0]:
            colour = drawing.COLOURS[name]
            steps = [step for step, _ in runs[0][name]]
            seeds = [[100 * (1 - share) for _, share in run[name]] for run in runs]
            for seed in seeds:
                axes.plot(steps, seed, color=colour, linewidth=0.5, alpha=0.35)
            mean = [statistics.mean(errors) for errors in zip(*seeds, strict=True)]
            axes.plot(steps, mean, color=colour, linewidth=2.2 if "guard" in name else 1.5)
            ends[name] = (steps[-1], mean[-1])
        axes.axhline(90, color=drawing.INK, linewidth=0.8, linestyle=":")
        drawing.plain_numbers(axes)
        axes.set(xlabel="step", xlim=(0, steps[-1]), ylim=(2, 125), title=title)
    grid[0].text(steps[-1], 93, "guessing", ha="right", va="bottom", size=9)
    drawing.label_ends(grid[-1], ends, gap=0.065)
    grid[0].set_ylabel(f"test error on {what}, %")
    drawing.save(figure, out)
