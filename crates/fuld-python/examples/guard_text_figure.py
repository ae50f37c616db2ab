"""The figure of `guard_text.py`: final losses by fault, a panel for each optimizer."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import drawing
import matplotlib.pyplot as plt

#: Losses of the seeds by optimizer, treatment and fault.
Losses = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]

COLOURS = {
    "nothing": drawing.INK,
    "clip norm": "#0072b2",
    "clip values": "#56b4e9",
    "ZClip": "#cc79a7",
    "guard": "#d55e00",
}


def draw(losses: Losses, out: Path) -> None:
    """Means with standard errors; runs without a finite loss are lost, at the upper edge."""
    figure, grid = plt.subplots(
        1, len(losses), figsize=(4.3 * len(losses), 3.9), layout="constrained", squeeze=False
    )
    for axes, (optimizer, treatments) in zip(grid[0], losses.items(), strict=True):
        kept = [
            statistics.mean(seeds)
            for of in treatments.values()
            for seeds in of.values()
            if all(map(math.isfinite, seeds))
        ]
        best = min(kept, default=0.0)
        low, high = best - 0.05, best + 0.75
        for place, (form, faults) in enumerate(treatments.items()):
            name = " ".join(word for word in form.split() if word.isalpha())
            colour = COLOURS[name]
            shift = 0.13 * (place - (len(treatments) - 1) / 2)
            for i, seeds in enumerate(faults.values()):
                mean = statistics.mean(seeds)
                if not math.isfinite(mean) or mean > high:
                    marker = "x" if not math.isfinite(mean) else "^"
                    axes.plot(i + shift, high, marker, color=colour, clip_on=False, markersize=6)
                    continue
                error = statistics.stdev(seeds) / math.sqrt(len(seeds)) if len(seeds) > 1 else 0.0
                axes.errorbar(
                    i + shift, mean, error, fmt="o", color=colour, markersize=5, elinewidth=1.2
                )
            axes.plot([], [], "o", color=colour, label=name)
        for i in range(len(faults) - 1):
            axes.axvline(i + 0.5, color=drawing.PALE, linewidth=0.6)
        names = [fault.replace(" ", "\n") for fault in faults]
        axes.set(ylim=(low, high), xlim=(-0.5, len(faults) - 0.5), title=optimizer)
        axes.title.set_y(1.05)
        axes.set_xticks(range(len(faults)), names)
        axes.tick_params(axis="x", length=0)
    grid[0][0].set_ylabel("validation loss, nats per byte")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    figure.text(0.995, 0.005, "crosses: lost    triangles: above", ha="right", va="bottom", size=8)
    drawing.save(figure, out)
