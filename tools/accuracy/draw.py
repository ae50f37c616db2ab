"""Draws the pictures of docs/img from what measure.py left in target/accuracy."""

import csv
import io

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from measure import DATA, ROOT
from PIL import Image
from points import PANELS, TABLE_ALPHAS, TABLE_LOG_V

IMAGES = ROOT / "docs" / "img"
DPI = 160
INK = "#222222"
# What a map shows, in the order of the columns of errors.csv.
TITLES = {
    "pdf": r"density $\psi$",
    "sf": r"tail probability $P(X > x)$",
    "score": r"score $s = \psi'/\psi$",
    "score_derivative": r"its derivative $s'$, relative to $|s'| + s^2$",
}
SHORT_TITLES = {"pdf": r"$\psi$", "sf": r"$P(X > x)$", "score": r"$s$", "score_derivative": r"$s'$"}
RED, GREY = "#a3372b", "#777777"
LEVELS = [float(f"{digit}e{exponent}") for exponent in (-16, -15, -14) for digit in (1, 2, 5)] + [
    1e-13
]
COLOURS = mpl.colormaps["viridis"]
SHADES = mpl.colors.BoundaryNorm(LEVELS, COLOURS.N, extend="both")

mpl.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "mathtext.fontset": "dejavusans",
        "axes.titlesize": 11,
        "axes.labelsize": 10.5,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.8,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "svg.hashsalt": "levy-stable",
        "svg.fonttype": "path",
    }
)


def read(name):
    """Rows of a csv file as dictionaries."""
    with open(DATA / name, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def save(figure, name):
    """Writes a picture: svg without its date, so that the same data give the same file, png with few colours."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    if name.endswith(".svg"):
        figure.savefig(IMAGES / name, metadata={"Date": None})
    else:
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=DPI, format="png")
        picture = Image.open(buffer).convert("RGB").quantize(96, dither=Image.Dither.NONE)
        picture.save(IMAGES / name, optimize=True)
    plt.close(figure)


def largest_errors(rows):
    """For each panel and quantity the largest error in each cell."""
    maps = {
        (kind, name): np.zeros(panel.cells) for kind, panel in PANELS.items() for name in TITLES
    }
    for row in rows:
        if row["kind"] in PANELS:
            cell = int(row["row"]), int(row["column"])
            for name in TITLES:
                errors = maps[row["kind"], name]
                errors[cell] = max(errors[cell], float(row[name]))
    return maps


def heat_map(axes, panel, errors):
    """One panel of errors on its axes; returns what the colour bar needs."""
    edges = (
        panel.distance_edges()
        if panel.is_log
        else panel.origin + panel.sign * panel.distance_edges()
    )
    mesh = axes.pcolormesh(
        panel.x_edges(), edges, errors, cmap=COLOURS, norm=SHADES, rasterized=True
    )
    axes.set_xscale("log")
    if panel.is_log:
        axes.set_yscale("log")
    axes.minorticks_off()
    return mesh


def colour_bar(figure, mesh, grid):
    """The colour bar shared by all panels."""
    bar = figure.colorbar(mesh, ax=grid, shrink=0.62, pad=0.02, aspect=26, spacing="uniform")
    bar.set_ticks(LEVELS, labels=[scientific(level) for level in LEVELS])
    bar.ax.minorticks_off()
    bar.set_label("largest relative error in the cell", labelpad=8)
    bar.outline.set_linewidth(0.8)


def scientific(level):
    """2e-15 as a formula, powers of ten without their factor 1."""
    digit, exponent = f"{level:.0e}".split("e")
    factor = "" if digit == "1" else rf"{digit} \times "
    return f"${factor}10^{{{int(exponent)}}}$"


def draw_plane(maps, regimes):
    """Errors over all of 0.1 < alpha < 2, with the boundaries between the formulas."""
    figure, grid = plt.subplots(
        2, 2, figsize=(10.2, 7.4), sharex=True, sharey=True, layout="constrained"
    )
    alpha, *edges = regimes
    for axes, (name, title) in zip(grid.flat, TITLES.items(), strict=True):
        mesh = heat_map(axes, PANELS["plane"], maps["plane", name])
        for edge in edges:
            axes.plot(edge, alpha, color="white", linewidth=0.9, alpha=0.85)
        axes.set_title(title)
        axes.set_xlim(1e-8, 1e8)
        axes.set_ylim(0.1, 2.0)
        axes.set_xticks([1e-8, 1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6, 1e8])
        axes.set_yticks([0.1, 0.5, 1.0, 1.5, 2.0])
    for axes in grid[1]:
        axes.set_xlabel("$x$")
    for axes in grid[:, 0]:
        axes.set_ylabel(r"tail index $\alpha$")
    colour_bar(figure, mesh, grid)
    save(figure, "error-map.png")


def draw_limits(maps):
    """Errors towards alpha = 1 from both sides, and towards alpha = 2. In all of them alpha grows upwards."""
    lines = {
        "above one": r"above 1:  $\alpha - 1$",
        "below one": r"below 1:  $1 - \alpha$",
        "below two": r"below 2:  $2 - \alpha$",
    }
    figure, grid = plt.subplots(3, 4, figsize=(12, 7.4), sharex=True, layout="constrained")
    for line, (kind, label) in zip(grid, lines.items(), strict=True):
        for axes, (name, title) in zip(line, SHORT_TITLES.items(), strict=True):
            mesh = heat_map(axes, PANELS[kind], maps[kind, name])
            axes.set_xticks([1e-6, 1e-3, 1, 1e3, 1e6])
            axes.set_yticks([1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
            if kind == "above one":
                axes.set_title(title)
            else:
                axes.invert_yaxis()
            if axes is not line[0]:
                axes.tick_params(labelleft=False)
        line[0].set_ylabel(label)
    for axes in grid[2]:
        axes.set_xlabel("$x$")
    colour_bar(figure, mesh, grid)
    save(figure, "error-map-limits.png")


def draw_regimes(regimes):
    """Which formula evaluates the law where."""
    alpha, origin, tail = regimes
    low, high = 1e-14, 1e4
    figure, axes = plt.subplots(figsize=(7.8, 4.7), layout="constrained")
    axes.fill_betweenx(alpha, low, origin, color="#d9e4f0", linewidth=0)
    axes.fill_betweenx(alpha, tail, high, color="#f5e7cd", linewidth=0)
    for edge in (origin, tail):
        axes.plot(edge, alpha, color=INK, linewidth=1.1)
    for closed, name in ((1.0, "Cauchy"), (2.0, "Gauss")):
        axes.axhline(closed, color=RED, linewidth=2.2, clip_on=False, zorder=3)
        place = {"xy": (1, closed), "xycoords": axes.get_yaxis_transform(), "xytext": (8, 0)}
        axes.annotate(
            "Closed", **place, textcoords="offset points", va="bottom", color=RED, fontweight="bold"
        )
        axes.annotate(
            f"{name}'s law", **place, textcoords="offset points", va="top", color=RED, fontsize=9
        )
    labels = (
        (3e-12, "Origin", "first term of the\nseries at $x = 0$"),
        (1e-4, "Contour", "trapezoidal rule on\nZolotarev's contour"),
        (3.5e2, "Tail", "series\nin $x^{-\\alpha}$"),
    )
    for x, name, formula in labels:
        axes.text(x, 1.55, name, ha="center", va="bottom", fontsize=13, fontweight="bold")
        axes.text(x, 1.51, formula, ha="center", va="top", fontsize=9.5, linespacing=1.35)
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xlim(low, high)
    axes.set_ylim(0.1, 2.0)
    axes.set_xticks([10.0**k for k in range(-14, 5, 2)])
    axes.set_yticks([0.1, 0.5, 1.0, 1.5, 2.0])
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("$x$, at unit scale")
    axes.set_ylabel(r"tail index $\alpha$")
    save(figure, "regimes.svg")


TABLE_LINES = {
    # column: (name, promised error, the same as a formula, limits and ticks of the axis)
    "double": ("double precision", 1e-12, "$10^{-12}$", (3e-17, 4e-12), [1e-16, 1e-14, 1e-12]),
    "single": (
        "single precision",
        2e-7,
        r"$2 \times 10^{-7}$",
        (1e-10, 6e-7),
        [1e-10, 1e-9, 1e-8, 1e-7],
    ),
}


def draw_table(rows):
    """Error of the field table over v: a dot for each point."""
    size = {"figsize": (12, 5.4), "layout": "constrained"}
    figure, grid = plt.subplots(2, len(TABLE_ALPHAS), sharex=True, sharey="row", **size)
    for line, (kind, (title, bound, formula, limits, ticks)) in zip(
        grid, TABLE_LINES.items(), strict=True
    ):
        for axes, alpha in zip(line, TABLE_ALPHAS, strict=True):
            chosen = [
                row for row in rows if row["kind"] == "picture" and float(row["alpha"]) == alpha
            ]
            v, error = (np.array([float(row[key]) for row in chosen]) for key in ("v", kind))
            axes.scatter(v, error, s=2.2, color="#31688e", linewidths=0)
            axes.axhline(bound, color=RED, linewidth=1.2)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.minorticks_off()
            axes.set_xlim(*(10.0**end for end in TABLE_LOG_V))
            axes.set_ylim(*limits)
            axes.set_xticks([1e-6, 1e-2, 1e2, 1e6, 1e10])
            axes.set_yticks(ticks)
            axes.spines[["top", "right"]].set_visible(False)
            if kind == "double":
                axes.set_title(rf"$\alpha = {alpha}$")
            else:
                axes.set_xlabel("$v$")
        line[0].set_ylabel(f"relative error,\n{title}")
        place = {"xy": (0.02, bound), "xycoords": line[0].get_yaxis_transform()}
        offset = {"xytext": (0, 4), "textcoords": "offset points"}
        line[0].annotate(f"promised: {formula}", **place, **offset, color=RED, fontsize=9)
    save(figure, "field-table.png")


def main():
    """All pictures."""
    maps = largest_errors(read("errors.csv"))
    regimes = np.array([[float(cell) for cell in row.values()] for row in read("regimes.csv")]).T
    draw_plane(maps, regimes)
    draw_limits(maps)
    draw_regimes(regimes)
    draw_table(read("table.csv"))


if __name__ == "__main__":
    main()
