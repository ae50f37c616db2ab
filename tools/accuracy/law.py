"""Draws docs/img/law.svg from our own law: python law.py DIRECTORY-OF-BUILT-EXAMPLES"""

import csv
import io
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from draw import save

# The colours of Okabe and Ito that survive colour blindness and print, warm for heavy tails.
COLOURS = {1.0: "#d55e00", 1.5: "#e69f00", 1.75: "#0072b2", 2.0: "#222222"}


def run(examples, name, *arguments, text=None):
    """Rows that one of our examples writes."""
    done = subprocess.run(
        [Path(examples) / name, *arguments], input=text, capture_output=True, text=True, check=True
    )
    return list(csv.DictReader(io.StringIO(done.stdout)))


def law(examples, alpha, x, *columns):
    """Columns of the law at the points x."""
    text = "".join(f"{alpha},{float(v)!r}\n" for v in x)
    rows = run(examples, "evaluate", text=text)
    return [np.array([float(row[column]) for row in rows]) for column in columns]


def main(examples):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.4, 3.5), layout="constrained")
    x = np.linspace(-12, 12, 961)
    v = np.linspace(-8, 8, 961)
    for alpha, colour in COLOURS.items():
        style = {"color": colour, "linewidth": 1.7, "label": rf"$\alpha = {alpha:g}$"}
        (pdf,) = law(examples, alpha, x, "pdf")
        left.semilogy(x, pdf, **style)
        # The field is minus the score of the law of scale alpha^(-1/alpha).
        inverse = alpha ** (1 / alpha)
        (score,) = law(examples, alpha, v * inverse, "score")
        middle.plot(v, -inverse * score, **style)
    paths = run(examples, "paths", *(f"{alpha:g}" for alpha in COLOURS))
    time = np.array([float(row["t"]) for row in paths])
    for alpha, colour in COLOURS.items():
        level = np.array([float(row[f"{alpha:g}"]) for row in paths])
        right.plot(time, level, color=colour, linewidth=0.9)
    left.set(xlabel="$x$", ylim=(1e-6, 1), xlim=(-12, 12), title=r"density $\psi$ of S$\alpha$S(1)")
    middle.set(
        xlabel="$v$", ylim=(-2.6, 2.6), xlim=(-8, 8), title=r"the field $\nabla G_\alpha$ of FULD"
    )
    right.set(xlabel="time", xlim=(0, 1), title="Lévy motion, one seed")
    left.legend(
        frameon=False,
        fontsize=8.5,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.02),
        handlelength=1.4,
    )
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.minorticks_off()
    middle.axhline(0, color="#bbbbbb", linewidth=0.7, zorder=0)
    right.axhline(0, color="#bbbbbb", linewidth=0.7, zorder=0)
    save(figure, "law.svg")


if __name__ == "__main__":
    main(sys.argv[1])
