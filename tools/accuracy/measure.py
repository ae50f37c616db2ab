"""Measures the errors of levy-stable against proved values and puts the numbers into docs/accuracy.md.

Run by `make accuracy`, which builds the example and then draws the pictures from what this leaves in target/accuracy:

    errors.csv     kind,row,column,alpha,x,regime and the errors of pdf, sf, score and score_derivative
    table.csv      alpha,v and the errors of the score table in double and single precision
    quantile.csv   class,interval,alpha,q, the error of x = isf(q) and that of sf(x)
    regimes.csv    alpha, the x where the formula at the origin ends, and the x where the tail series starts
"""

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np
from compare import QUANTITIES, law_errors, quantile_errors, run_example, table_errors
from points import (
    PANELS,
    QUANTILE_ALPHAS,
    QUANTILE_RANGES,
    bisect,
    difficult_points,
    generator,
    quantile_points,
    table_points,
)

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "accuracy.md"
DATA = ROOT / "target" / "accuracy"
SYMBOLS = ("ψ", "sf", "g′", "g″")


def measure_law(program, rng):
    """Rows of errors.csv."""
    places = [(name, *point) for name, panel in PANELS.items() for point in panel.points(rng)]
    difficult = difficult_points(rng, lambda points: run_example(program, "law", points))
    places += [(name, 0, 0, alpha, x) for name, alpha, x in difficult]
    start = time.time()
    for i, (place, (regime, errors)) in enumerate(
        zip(places, law_errors(program, [place[3:] for place in places]), strict=True), 1
    ):
        yield *place, regime, *errors
        if i % 20000 == 0:
            print(f"{i} of {len(places)} points, {time.time() - start:.0f} s", file=sys.stderr)


def measure_table(program, rng):
    """Rows of table.csv."""
    points = list(table_points(rng))
    for (alpha, _), (v, errors) in zip(points, table_errors(program, points), strict=True):
        yield alpha, v, *errors


def measure_quantile(program, rng):
    """Rows of quantile.csv, without those whose x overflows."""
    places = list(quantile_points(rng))
    rows = run_example(program, "isf", [place[2:] for place in places])
    places = [place for place, row in zip(places, rows, strict=True) if float(row[2]) < 1e308]
    for place, errors in zip(places, quantile_errors(program, [place[2:] for place in places]), strict=True):
        yield *place, *errors


def find_regimes(program, count=320):
    """Rows of regimes.csv."""
    alphas = [float(alpha) for alpha in np.linspace(0.1, 1.9999, count)]
    alphas = [alpha for alpha in alphas if alpha != 1.0]

    def edge(is_low):
        return bisect(
            alphas, 1e-290, 1e290, lambda points: [is_low(row[6]) for row in run_example(program, "law", points)]
        )

    return zip(
        alphas, edge(lambda name: name == "Origin"), edge(lambda name: name != "Tail"), strict=True
    )


def save(name, columns, rows):
    """Writes a csv file and returns its rows."""
    rows = list(rows)
    DATA.mkdir(parents=True, exist_ok=True)
    with open(DATA / name, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([columns, *rows])
    return rows


def classes_of(kind, alpha):
    """The line of the page's table in which a point is counted."""
    if kind == "plane":
        return "0.3 ≤ α < 2" if alpha >= 0.3 else "0.1 ≤ α < 0.3"
    if kind == "small alpha":
        return "0.03 ≤ α < 0.1" if alpha >= 0.03 else "0.003 ≤ α < 0.03"
    return {
        "above one": "\\|α − 1\\| from 1e-15 to 0.1",
        "below one": "\\|α − 1\\| from 1e-15 to 0.1",
        "below two": "2 − α from 1e-15 to 0.1",
        "seams": "either side of a change of formula",
        "inflections": "about the zero of g″",
        "far": "0.3 ≤ α < 2, x from 1e-300 to 1e300",
    }[kind]


def law_table(rows):
    """Markdown: a line for each class, median / 99.9 % / largest error of each quantity."""
    groups = {}
    for kind, _, _, alpha, _, _, *errors in rows:
        groups.setdefault(classes_of(kind, alpha), []).append(errors)
    yield "| points | number | " + " | ".join(SYMBOLS) + " |"
    yield "|---|--:|" + "---|" * len(SYMBOLS)
    for name, errors in groups.items():
        cells = []
        for column in np.array(errors).T:
            cells.append(" / ".join(f"{np.quantile(column, level):.1e}" for level in (0.5, 0.999, 1.0)))
        yield f"| {name} | {len(errors)} | " + " | ".join(cells) + " |"


def quantile_table(rows):
    """Markdown: a line for each class of alpha, the largest errors of x and of sf(x) in each range of q."""
    yield "| | " + " | ".join(f"q from {interval}" for interval in QUANTILE_RANGES) + " |"
    yield "|---|" + "---|" * len(QUANTILE_RANGES)
    for name in QUANTILE_ALPHAS:
        cells = []
        for interval in QUANTILE_RANGES:
            errors = np.array([row[4:] for row in rows if row[:2] == (name, interval)])
            cells.append(" / ".join(f"{error:.1e}" for error in errors.max(axis=0)))
        yield f"| {name} | " + " | ".join(cells) + " |"


def worst_points(rows):
    """Markdown: where each quantity is worst for alpha >= 0.1."""
    yield "| | largest error | α | x | formula |"
    yield "|---|---|---|---|---|"
    rows = [row for row in rows if row[3] >= 0.1]
    for i, symbol in enumerate(SYMBOLS):
        worst = max(rows, key=lambda row: row[6 + i])
        yield f"| {symbol} | {worst[6 + i]:.1e} | {worst[3]!r} | {worst[4]!r} | {worst[5]} |"


def replace_block(text, name, lines):
    """`text` with the lines between the comments `name` and `end name` replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{PAGE.name} must have the comments '{begin}' and '{end}' once each")
    before, after = text.split(begin)[0], text.split(end)[1]
    return before + "\n".join([begin, *lines, end]) + after


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the compiled example `evaluate` of levy-stable")
    parser.add_argument("--seed", type=int, default=1, help="of the random points (default 1)")
    args = parser.parse_args()
    rng = generator(args.seed)

    columns = ("kind", "row", "column", "alpha", "x", "regime", *QUANTITIES)
    law = save("errors.csv", columns, measure_law(args.program, rng))
    save("table.csv", ("alpha", "v", "double", "single"), measure_table(args.program, rng))
    quantile = save(
        "quantile.csv", ("class", "interval", "alpha", "q", "x", "sf"), measure_quantile(args.program, rng)
    )
    save("regimes.csv", ("alpha", "origin_end", "tail_start"), find_regimes(args.program))

    text = PAGE.read_text(encoding="utf-8")
    for name, lines in (
        ("law", law_table(law)),
        ("worst", worst_points(law)),
        ("quantile", quantile_table(quantile)),
    ):
        text = replace_block(text, name, lines)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
