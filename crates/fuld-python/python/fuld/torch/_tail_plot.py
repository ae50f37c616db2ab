"""The figure of a tail monitor."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from fuld.torch._gradient_tail import GradientTail

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fuld.torch._tail_panels import Line

_MOST = 24
"""Parameters shown: with more of them, those with the smallest alpha."""
_HEIGHT_OF_PAST = 2.6


def plot_tails(
    names: list[str],
    now: list[GradientTail],
    past: list[tuple[int, list[GradientTail]]],
    figure: Figure | None,
) -> Figure:
    """Draw the present and the earlier estimates of each parameter.

    The last tail of each list is that of all parameters.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "TailMonitor.plot needs matplotlib, which is not installed: pip install matplotlib"
        ) from error
    from fuld.torch import _tail_panels as panels

    several = _of_several_coordinates(now[:-1])
    # The heaviest tails, in the order of the parameters.
    places = sorted(sorted(several, key=lambda i: now[i].alpha)[:_MOST])
    lines = panels.lines([names[i] for i in places], [now[i] for i in places], now[-1])
    columns = ["alpha", "noise_scale"]
    if any(not math.isnan(line.tail.beyond_knee) for line in lines):
        columns.append("beyond_knee")
    over_time = len(past) > 1
    height = 0.9 + 0.25 * len(lines)
    figure = _figure(figure, height + 0.4 + _HEIGHT_OF_PAST * over_time)
    figure.suptitle(_title(len(places), len(several)), fontsize=11, x=0.02, ha="left")
    grid = figure.add_gridspec(
        1 + over_time,
        len(columns),
        width_ratios=[4, 4, 3][: len(columns)],
        height_ratios=[height, _HEIGHT_OF_PAST][: 1 + over_time],
    )
    for i, column in enumerate(columns):
        axes = figure.add_subplot(grid[0, i])
        panels.draw_now(axes, lines, column)
        panels.name_lines(axes, lines, named=i == 0)
        if over_time:
            panels.draw_past(figure.add_subplot(grid[1, i]), _past(lines, places, past), column)
    return figure


def _of_several_coordinates(tails: list[GradientTail]) -> list[int]:
    """Return which parameters are known and worth a line."""
    known = [i for i, tail in enumerate(tails) if not math.isnan(tail.alpha)]
    if not known:
        raise ValueError(_why_nothing([tail.note for tail in tails]))
    # The interval of a single coordinate is so wide that it would hide the others.
    return [i for i in known if tails[i].coordinates > 1] or known


def _why_nothing(notes: list[str]) -> str:
    times = Counter(notes)
    if times.keys() == {"no gradients yet"}:
        return "there is nothing to plot before four steps with gradients"
    reasons = [note if len(times) == 1 else f"{note} ({n})" for note, n in times.items()]
    return f"there is nothing to plot: {', '.join(reasons)}"


def _title(shown: int, several: int) -> str:
    title = "Noise in the gradients"
    if shown < several:
        title += f": the {shown} parameters of {several} with the heaviest tails"
    return title


def _figure(figure: Figure | None, height: float) -> Figure:
    """Return the figure to draw in, if there is none a new one."""
    from matplotlib import pyplot
    from matplotlib.figure import Figure, FigureBase
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if figure is None:
        layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1)
        figure = pyplot.figure(figsize=(10.5, height), layout=layout, facecolor="white")
    elif not isinstance(figure, FigureBase):
        kind = type(figure).__name__
        fix = "give its .figure" if hasattr(figure, "figure") else "leave it out to have one made"
        raise TypeError(f"figure must be a matplotlib Figure, got {kind}; {fix}")
    elif isinstance(figure, Figure) and figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return figure


def _past(
    lines: list[Line], places: list[int], past: list[tuple[int, list[GradientTail]]]
) -> tuple[list[int], list[tuple[Line, list[GradientTail]]]]:
    """Return the steps, and of each line what was known at them."""
    # The line of all parameters, if there is one, is the last.
    index = [*places, -1][: len(lines)]
    followed = [
        (line, [tails[i] for _, tails in past]) for line, i in zip(lines, index, strict=True)
    ]
    return [step for step, _ in past], followed
