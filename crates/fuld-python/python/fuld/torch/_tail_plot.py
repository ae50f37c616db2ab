"""Tails as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from fuld.torch._gradient_tail import GradientTail

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Tails = dict[str, GradientTail]

_MOST = 24
"""Parameters shown: with more of them, those with the smallest alpha."""
_GREY = "#8a8f98"
_SURE = 1.96
"""Standard errors to either side of an interval that holds 95 % of normal errors."""


def plot_tails(now: Tails, past: list[tuple[int, Tails]], figure: Figure | None) -> Figure:
    """Draw what is known of each parameter now, and what was known before."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "TailMonitor.plot needs matplotlib, which is not installed: pip install matplotlib"
        ) from error
    known = {name: tail for name, tail in now.items() if not math.isnan(tail.alpha)}
    if not known:
        raise ValueError("there is nothing to plot before four steps with gradients")
    heaviest = sorted(known, key=lambda name: known[name].alpha)[:_MOST]
    shown = {name: tail for name, tail in known.items() if name in heaviest}
    colours = _colours(list(shown))
    bent = any(not math.isnan(tail.bent) for tail in shown.values())
    over_time = len(past) > 1
    height = 1.3 + 0.26 * len(shown)
    if figure is None:
        figure = pyplot.figure(
            figsize=(9, height + 3.0 * over_time), layout="constrained", facecolor="white"
        )
    grid = figure.add_gridspec(
        1 + over_time, 12, height_ratios=[height, 3.0] if over_time else [height]
    )
    split = 8 if bent else 12
    alphas = figure.add_subplot(grid[0, :split])
    _draw_alphas(alphas, shown, colours)
    if len(shown) < len(known):
        alphas.set_title(f"the {len(shown)} heaviest of {len(known)} parameters", fontsize=10)
    if bent:
        _draw_bent(figure.add_subplot(grid[0, split:], sharey=alphas), shown, colours)
    if over_time:
        _draw_past(figure.add_subplot(grid[1, :split]), past, colours, "alpha")
        if bent:
            _draw_past(figure.add_subplot(grid[1, split:]), past, colours, "bent")
    return figure


def _colours(names: list[str]) -> dict[str, str]:
    """Return a colour for each parameter: from dark to light in their order."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    last = max(len(names) - 1, 1)
    return {name: to_hex(colormaps["viridis"](0.9 * i / last)) for i, name in enumerate(names)}


def _draw_alphas(axes: Axes, shown: Tails, colours: dict[str, str]) -> None:
    for place, (name, tail) in enumerate(shown.items()):
        error = 0.0 if math.isnan(tail.alpha_error) else _SURE * tail.alpha_error
        axes.plot(
            [tail.alpha - error, min(tail.alpha + error, 2)],
            [place, place],
            color=colours[name],
            linewidth=2,
            solid_capstyle="round",
        )
        axes.plot(tail.alpha, place, "o", color=colours[name], markersize=6)
    axes.axvline(2, color=_GREY, linestyle=(0, (4, 3)), linewidth=1)
    axes.annotate(
        "Gaussian",
        (2, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-3, 3),
        textcoords="offset points",
        ha="right",
        color=_GREY,
        fontsize=8,
    )
    axes.set_yticks(range(len(shown)), list(shown), fontsize=9)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(right=2.03)
    axes.set_xlabel("tail index α of the gradient noise, 95 %")
    _tidy(axes, "x")


def _draw_bent(axes: Axes, shown: Tails, colours: dict[str, str]) -> None:
    shares = [0.0 if math.isnan(tail.bent) else 100 * tail.bent for tail in shown.values()]
    bars = axes.barh(range(len(shown)), shares, height=0.55, color=list(colours.values()))
    axes.bar_label(bars, [f"{share:.2g}" for share in shares], padding=3, fontsize=8, color=_GREY)
    axes.tick_params(labelleft=False)
    axes.set_xlim(0, 1.2 * max([*shares, 1e-9]))
    axes.set_xlabel("bent coordinates, %")
    _tidy(axes, "x")


def _draw_past(
    axes: Axes, past: list[tuple[int, Tails]], colours: dict[str, str], what: str
) -> None:
    steps = [step for step, _ in past]
    factor = 100 if what == "bent" else 1
    for name, colour in colours.items():
        values = [factor * getattr(tails[name], what) for _, tails in past]
        axes.plot(steps, values, color=colour, linewidth=1.6)
    if what == "alpha":
        axes.axhline(2, color=_GREY, linestyle=(0, (4, 3)), linewidth=1)
        axes.set_ylim(top=2.03)
    axes.set_ylabel("α" if what == "alpha" else "bent, %")
    axes.set_xlabel("step")
    _tidy(axes, "y")


def _tidy(axes: Axes, grid: Literal["x", "y"]) -> None:
    axes.grid(axis=grid, color="#e6e8eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#c8ccd2")
