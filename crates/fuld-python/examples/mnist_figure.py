"""The figure of `mnist.py`: the curves of both programs, and how far they are apart."""

from __future__ import annotations

from pathlib import Path

import comparison
import drawing
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

Curves = npt.NDArray[np.float64]
"""For each seed and measurement the test loss and accuracy."""


def draw(curves: dict[str, Curves], steps: npt.NDArray[np.int64], what: str, out: Path) -> None:
    """Loss and accuracy: each seed thin, the mean thick; and the differences, if there are two."""
    panels = 3 if len(curves) == 2 else 2
    figure, grid = plt.subplots(1, panels, figsize=(3.8 * panels, 3.5), layout="constrained")
    for name, seeds in curves.items():
        colour = drawing.COLOURS[name]
        dashes = (0, (4, 3)) if name == "Rust" else "-"
        for axes, values in zip(grid, (seeds[..., 0], 100 * (1 - seeds[..., 1])), strict=False):
            axes.plot(steps, values.T, color=colour, linewidth=0.5, alpha=0.4)
            axes.plot(
                steps, values.mean(0), color=colour, linewidth=2, linestyle=dashes, label=name
            )
    grid[0].set(title=f"test loss on {what}")
    grid[1].set(title="test error, %")
    grid[0].legend(handlelength=2.5)
    if panels == 3:
        one, other = (np.log(seeds[:, 1:, 0]) for seeds in curves.values())
        axes = grid[2]
        axes.axhspan(-2, 2, color=drawing.PALE, alpha=0.3, lw=0, label="±2 standard errors")
        axes.axhline(0, color=drawing.PALE, linewidth=0.8)
        axes.plot(
            steps[1:], comparison.standard_errors(one, other), "o-", color=drawing.INK, ms=4, lw=1
        )
        axes.set(title="difference of log loss, standard errors", ylim=(-5, 5))
        axes.legend(loc="upper right")
    for axes in grid[:2]:
        drawing.plain_numbers(axes)
    for axes in grid:
        axes.set(xlabel="step", xlim=(0, steps[-1]))
    drawing.save(figure, out)
