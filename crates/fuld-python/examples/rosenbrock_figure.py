"""The figure of `rosenbrock.py`: ways over maps of the landscapes, and f by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import drawing
import matplotlib.pyplot as plt
import numpy as np
from landscapes import Floats, Landscape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

Ways = dict[str, Floats]
"""By method: [steps + 1, runs, 2]."""
START: dict[str, Any] = {"marker": "o", "color": "white", "markeredgecolor": drawing.INK, "ms": 6}
LOWEST: dict[str, Any] = {**START, "marker": "*", "ms": 12}
END: dict[str, Any] = {"marker": "o", "markeredgecolor": "white", "ms": 6.5}


def draw(rows: Sequence[tuple[Landscape, Ways, Ways]], out: Path) -> None:
    """A row for each landscape: exact ways, noisy ways, and f along the noisy ones."""
    figure, grid = plt.subplots(
        len(rows), 3, figsize=(11.4, 7.4), layout="constrained", width_ratios=[1, 1, 0.9]
    )
    for (place, exact, noisy), panels in zip(rows, grid, strict=True):
        draw_map(panels[0], place, exact, "exact gradients")
        draw_map(panels[1], place, noisy, "one noisy run")
        draw_values(panels[2], place, noisy)
    draw_legend(figure, list(rows[0][1]))
    drawing.save(figure, out)


def draw_map(axes: Axes, place: Landscape, ways: Ways, title: str) -> None:
    """The first run of each method over the contours."""
    left, right, bottom, top = place.box
    x, y = np.meshgrid(np.linspace(left, right, 300), np.linspace(bottom, top, 300))
    axes.contourf(x, y, place.f(x, y), place.levels, colors=place.greys(), extend="both")
    for name, way in ways.items():
        # SGD thinner, since under noise it is everywhere.
        width = 0.5 if name == "SGD" else 0.9
        axes.plot(*way[:, 0].T, color=drawing.COLOURS[name], linewidth=width)
    for name, way in ways.items():
        axes.plot(*way[-1, 0], color=drawing.COLOURS[name], **END)
    axes.plot(*place.start, **START)
    axes.plot(*place.lowest, **LOWEST)
    axes.set(xlim=(left, right), ylim=(bottom, top), title=f"{place.name}, {title}")


def draw_values(axes: Axes, place: Landscape, noisy: Ways) -> None:
    """The median of the runs, and where the middle half of them is."""
    ends = {}
    for name, way in noisy.items():
        colour = drawing.COLOURS[name]
        lower, median, upper = np.quantile(
            np.minimum(place.along(way), 1e9), [0.25, 0.5, 0.75], axis=1
        )
        steps = np.arange(len(median))
        axes.fill_between(steps, lower, upper, color=colour, alpha=0.12, linewidth=0)
        axes.plot(steps, median, color=colour, linewidth=1.2)
        ends[name] = (place.steps, float(np.clip(np.median(median[-100:]), *place.span)))
    runs = next(iter(noisy.values())).shape[1]
    axes.set(
        yscale="log",
        xlim=(0, place.steps),
        ylim=place.span,
        xlabel="step",
        ylabel="f",
        title=f"{runs} noisy runs: median, middle half",
    )
    drawing.label_ends(axes, ends)


def draw_legend(figure: Figure, names: list[str]) -> None:
    """Below all panels: what colours and marks mean."""
    titles = {name: name.replace("FULD ", "FULD, α = ") for name in names}
    lines = [
        Line2D([], [], color=drawing.COLOURS[name], lw=2, label=titles[name]) for name in names
    ]
    marks = [
        Line2D([], [], linestyle="", label="start", **START),
        Line2D([], [], linestyle="", label="end", color=drawing.INK, **END),
        Line2D([], [], linestyle="", label="minimum", **LOWEST),
    ]
    figure.legend(handles=[*lines, *marks], loc="outside lower center", ncols=8, fontsize=9)
