"""How the examples draw: the colours of the methods, and what the axes look like."""

from __future__ import annotations

import io
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from PIL import Image

INK, PALE = "#222222", "#bbbbbb"
# Okabe and Ito's: warm for heavy tails, and the same for a method in every figure.
COLOURS = {
    "SGD": INK,
    "Adam": "#009e73",
    "SGD, clip 0.05": "#56b4e9",
    "SGD, clip 0.005": "#0072b2",
    "FULD, paper's form": "#cc79a7",
    "FULD 1.75": "#0072b2",
    "FULD 1.5": "#e69f00",
    "FULD 1.2": "#d55e00",
    "FULD, matched": "#e69f00",
    "SGD, guard": "#d55e00",
    "fuld.torch": "#d55e00",
    "Rust": "#0072b2",
}

mpl.rcParams.update(
    {
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "legend.frameon": False,
    }
)


def label_ends(axes: Axes, ends: Mapping[str, tuple[float, float]], gap: float = 0.055) -> None:
    """Writes names right of where their curves end, (x, y), no two nearer than `gap` heights."""
    place = axes.transData + axes.transAxes.inverted()
    heights = {name: float(place.transform(end)[1]) for name, end in ends.items()}
    names = sorted(heights, key=heights.__getitem__)
    # Neighbours that are too near give way alike, until none is: names stay about their lines.
    for _ in range(100):
        for lower, upper in pairwise(names):
            short = max(gap - (heights[upper] - heights[lower]), 0)
            heights[lower] -= short / 2
            heights[upper] += short / 2
    for name, height in heights.items():
        axes.text(
            1.02, height, name, color=COLOURS[name], transform=axes.transAxes, va="center", size=9
        )


def plain_numbers(axes: Axes) -> None:
    """A logarithmic axis upwards with numbers such as 2, 5, 10."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def save(figure: Figure, path: Path) -> None:
    """Writes the figure in the format that its name ends with; a .png has few colours."""
    if path.suffix == ".png":
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=130, format="png")
        picture = (
            Image.open(buffer)
            .convert("RGB")
            .quantize(128, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        )
        picture.save(path, optimize=True)
    else:
        figure.savefig(path)
    print(f"figure: {path}")
