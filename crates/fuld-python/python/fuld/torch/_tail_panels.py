"""The panels of the figure of a tail monitor: one number of each parameter, now or over time."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from typing import Literal

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from fuld.torch._gradient_tail import GradientTail
from fuld.torch._table import ending

_DARK = "#1b1f27"
_GREY = "#7b818c"
_SURE = 1.96
"""Standard errors to either side of an interval that holds 95 % of normal errors."""
_FEW = 8
"""So many parameters may each be followed by eye; more are a pale crowd behind all."""
_WIDEST = 30
"""Letters of a name."""
_BEYOND = 10.0
"""The factor by which the axis of the noise scale exceeds all estimates at most."""

_LABELS = {
    "alpha": "tail index α, with 95 % intervals",
    "noise_scale": "noise scale, with 95 % intervals",
    "beyond_knee": "coordinates beyond the knee, %",
}


@dataclass(frozen=True)
class Line:
    """A parameter, or all of them, as drawn."""

    name: str
    tail: GradientTail
    colour: str
    weight: float


def lines(names: list[str], tails: list[GradientTail], total: GradientTail) -> list[Line]:
    """Return a line for each parameter, and if there are several one for all, the last."""
    if len(names) == 1:
        return [Line(ending(names[0], _WIDEST), tails[0], _DARK, 2.4)]
    pale, weight = (0.0, 1.6) if len(names) <= _FEW else (0.35, 1.0)
    found = []
    for i, (name, tail) in enumerate(zip(names, tails, strict=True)):
        red, green, blue = colormaps["viridis"](0.15 + 0.75 * i / (len(names) - 1))[:3]
        whiter = [(1 - pale) * part + pale for part in (red, green, blue)]
        colour = to_hex((whiter[0], whiter[1], whiter[2]))
        found.append(Line(ending(name, _WIDEST), tail, colour, weight))
    return [*found, Line("all", total, _DARK, 2.6)]


def name_lines(axes: Axes, lines: list[Line], named: bool) -> None:
    """Give every line its row, the first on top; panels beside the first repeat no names."""
    axes.set_yticks(range(len(lines)), [line.name for line in lines], fontsize=9)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(labelleft=named)
    if lines[-1].name == "all" and named:
        axes.get_yticklabels()[-1].set_fontweight("bold")


def draw_now(axes: Axes, lines: list[Line], what: str) -> None:
    """Draw one number of every line in its row."""
    if what == "beyond_knee":
        _draw_shares(axes, lines)
    else:
        for row, line in enumerate(lines):
            low, value, high = _interval(line.tail, what)
            (bar,) = axes.plot([low, high], [row, row], color=line.colour)
            bar.set(linewidth=0.6 + line.weight, solid_capstyle="round")
            axes.plot(value, row, "o", markersize=4 + line.weight, color=line.colour)
        _set_range(axes, [line.tail for line in lines], what, "x")
    axes.set_xlabel(_LABELS[what], fontsize=9)
    _tidy(axes, "x")


def draw_past(
    axes: Axes, past: tuple[list[int], list[tuple[Line, list[GradientTail]]]], what: str
) -> None:
    """Draw one number of every line as it was at the steps of the past."""
    steps, followed = past
    factor = 100 if what == "beyond_knee" else 1
    for line, tails in followed:
        values = [factor * getattr(tail, what) for tail in tails]
        axes.plot(steps, values, color=line.colour, linewidth=line.weight, zorder=2 + line.weight)
    if what == "beyond_knee":
        _set_share_range(axes, [tail.beyond_knee for _, tails in followed for tail in tails], "y")
    else:
        _set_range(axes, [tail for _, tails in followed for tail in tails], what, "y")
    axes.set_ylabel(
        {"alpha": "α", "noise_scale": "noise scale", "beyond_knee": "beyond knee, %"}[what],
        fontsize=9,
    )
    axes.set_xlabel("step", fontsize=9)
    axes.xaxis.set_major_locator(_even(5))
    _tidy(axes, "y")


def _draw_shares(axes: Axes, lines: list[Line]) -> None:
    for row, line in enumerate(lines):
        if math.isnan(line.tail.beyond_knee):
            continue
        bars = axes.barh(row, 100 * line.tail.beyond_knee, height=0.6, color=line.colour)
        axes.bar_label(bars, [_share(line.tail.beyond_knee)], padding=4, fontsize=8, color=_GREY)
    _set_share_range(axes, [line.tail.beyond_knee for line in lines], "x")


def _share(share: float) -> str:
    if not share:
        return "none"
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def _interval(tail: GradientTail, what: str) -> tuple[float, float, float]:
    """Return a number between its limits, both itself while the error is not known."""
    value, error = getattr(tail, what), getattr(tail, f"{what}_error")
    if math.isnan(error):
        return value, value, value
    if what == "alpha":
        return max(value - _SURE * error, 0.0), value, min(value + _SURE * error, 2.0)
    # Of a scale the logarithm is nearly normal; no further than any axis goes.
    factor = math.exp(min(_SURE * error / value, 50.0))
    return value / factor, value, value * factor


def _set_range(axes: Axes, tails: list[GradientTail], what: str, along: Literal["x", "y"]) -> None:
    """Let an axis hold all estimates and, within reason, their intervals."""
    known = [_interval(tail, what) for tail in tails if not math.isnan(tail.alpha)]
    set_limits = axes.set_xlim if along == "x" else axes.set_ylim
    if along == "y":
        known = [(value, value, value) for _, value, _ in known]
    low, high = min(low for low, _, _ in known), max(high for _, _, high in known)
    if what == "alpha":
        set_limits(max(0.0, min(low - 0.05, 1.75)), 2.03)
        (axes.xaxis if along == "x" else axes.yaxis).set_major_locator(_even(8))
        mark = axes.axvline if along == "x" else axes.axhline
        mark(2, color=_GREY, linestyle=(0, (4, 3)), linewidth=1)
        if along == "x":
            _name_gaussian(axes)
        return
    values = [value for _, value, _ in known]
    low, high = max(low, min(values) / _BEYOND), min(high, max(values) * _BEYOND)
    # Half a decade at least, so that there are round numbers for ticks.
    room = max(1.15, math.sqrt(max(10**0.5 * low / high, 1.0)))
    (axes.set_xscale if along == "x" else axes.set_yscale)("log")
    set_limits(low / room, high * room)
    axis = axes.xaxis if along == "x" else axes.yaxis
    decades = math.log10(high / low)
    rounds = [(1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)][bisect((0.9, 1.5, 2.5), decades)]
    axis.set_major_locator(LogLocator(subs=rounds, numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _set_share_range(axes: Axes, shares: list[float], along: Literal["x", "y"]) -> None:
    # A percent at least: an axis of millionths would suggest an effect where there is none.
    highest = max([0.0, *(100 * share for share in shares if not math.isnan(share))])
    if along == "x":
        # With room for the numbers beside the bars.
        axes.set_xlim(0, max(1.25 * highest, 1.0))
        axes.xaxis.set_major_locator(_even(5))
    else:
        top = max(min(1.08 * highest, 102.0), 1.0)
        axes.set_ylim(-0.02 * top, top)


def _even(most: int) -> MaxNLocator:
    """Return ticks at round numbers, with a limited number of intervals."""
    return MaxNLocator(most, steps=[1, 2, 5, 10])


def _name_gaussian(axes: Axes) -> None:
    axes.annotate(
        "Gaussian",
        (2, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        color=_GREY,
        fontsize=8,
    )


def _tidy(axes: Axes, grid: Literal["x", "y"]) -> None:
    axes.grid(axis=grid, color="#e6e8eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#c8ccd2")
