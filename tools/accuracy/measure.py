"""Measures the errors of levy-stable against proved values and puts the numbers into docs/accuracy.md.

Run by `make accuracy`, which builds the example and draws the pictures from what this leaves in target/accuracy:

    errors.csv    kind,row,column,alpha,x,regime and the errors of pdf, sf, score and score_derivative
    worst.csv     the largest errors that climbing found, and where
    table.csv     kind,alpha,v and the errors of the field table in double and single precision
    regimes.csv   alpha, the x where the formula at the origin ends, and the x where the tail series starts
"""

import argparse
import csv
import random
import sys
import time
from pathlib import Path

import numpy as np
from compare import QUANTITIES, law_errors, quantile_errors, run_example, table_errors
from points import (
    BOXES,
    PANELS,
    QUANTILE_ALPHAS,
    QUANTILE_RANGES,
    TABLE_CLASSES,
    difficult_points,
    regime_edges,
    table_points,
)
from search import climb

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "accuracy.md"
DATA = ROOT / "target" / "accuracy"
SYMBOLS = ("ψ", "sf", "g′", "g″")
# Lines of the page's table: which points, and the smallest and largest alpha among them.
CLASSES = {
    "0.3 ≤ α < 2": (("plane",), 0.3, 2.0),
    "0.1 ≤ α < 0.3": (("plane",), 0.1, 0.3),
    "\\|α − 1\\| from 1e-15 to 0.1": (("above one", "below one"), 0.9, 1.1),
    "2 − α from 1e-15 to 0.1": (("below two",), 1.9, 2.0),
    "either side of a change of formula, 0.1 ≤ α < 2": (("seams",), 0.1, 2.0),
    "about the zero of g″, 0.1 ≤ α < 2": (("inflections",), 0.1, 2.0),
    "0.3 ≤ α < 2, x from 1e-300 to 1e300": (("far",), 0.3, 2.0),
    "0.03 ≤ α < 0.1, x from 1e-100 to 1e100": (("small alpha",), 0.03, 0.1),
    "about the zero of g″, 0.03 ≤ α < 0.1": (("small inflections",), 0.03, 0.1),
    "0.003 ≤ α < 0.03, x from 1e-100 to 1e100": (("small alpha",), 0.003, 0.03),
    "1e-12 ≤ α < 0.003, x from 1e-300 to 1e300": (("tiny alpha",), 0.0, 0.003),
}


def progress(text):
    """Says how far the run is, on stderr."""
    print(f"{time.process_time():5.0f} s  {text}", file=sys.stderr, flush=True)


def save(name, columns, rows):
    """Writes a csv file and returns its rows."""
    rows = list(rows)
    DATA.mkdir(parents=True, exist_ok=True)
    with open(DATA / name, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([columns, *rows])
    return rows


def measure_law(program, rng):
    """Rows of errors.csv."""
    places = [(name, *point) for name, panel in PANELS.items() for point in panel.points(rng)]
    difficult = difficult_points(rng, lambda points: run_example(program, "law", points))
    places += [(name, 0, 0, alpha, x) for name, alpha, x in difficult]
    found = law_errors(program, [place[3:] for place in places])
    for i, (place, (regime, errors)) in enumerate(zip(places, found, strict=True)):
        if i % 20000 == 0:
            progress(f"law: {i} of {len(places)} points")
        yield *place, regime, *errors


def search_law(program, rng):
    """Rows of worst.csv for the law."""

    def measure(points):
        return [errors for _, errors in law_errors(program, points)]

    for name, box in BOXES.items():
        progress(f"search: {name}")
        for quantity, (error, point) in zip(
            QUANTITIES, climb(box.place, measure, len(QUANTITIES), rng), strict=True
        ):
            yield name, quantity, error, *point


def search_quantile(program, rng):
    """Rows of worst.csv for the quantile: x, and sf(x) as a value for q."""

    def measure(points):
        return list(quantile_errors(program, points))

    for name, alpha in QUANTILE_ALPHAS.items():
        progress(f"quantile: {name}")
        for interval, q in QUANTILE_RANGES.items():
            found = climb(lambda u, v, alpha=alpha, q=q: (alpha(u), q(v)), measure, 2, rng)
            for quantity, (error, point) in zip(("x", "sf(x)"), found, strict=True):
                yield f"{name}, {interval}", quantity, error, *point


def measure_table(program, rng):
    """Rows of table.csv."""
    places = list(table_points(rng))
    found = table_errors(program, [place[1:] for place in places])
    for (name, alpha, _), (v, errors) in zip(places, found, strict=True):
        yield name, alpha, v, *errors


def find_regimes(program, count=320):
    """Rows of regimes.csv."""
    alphas = [float(alpha) for alpha in np.linspace(0.1, 1.9999, count) if alpha != 1.0]
    edges = regime_edges(alphas, lambda points: run_example(program, "law", points))
    return zip(alphas, *edges, strict=True)


def markdown(head, lines):
    """Lines of a table."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def short(error):
    """An error with two digits; 0 for what is far below rounding."""
    return "0" if error < 1e-17 else f"{error:.1e}"


def summary(name, errors):
    """A line: how many points, and the median, 99.9 % and largest error of each quantity."""
    levels = np.quantile(errors, (0.5, 0.999, 1.0), axis=0).T
    return [name, f"{len(errors):,}", *(" / ".join(map(short, column)) for column in levels)]


def law_table(rows):
    """A line for each class of points."""
    lines = []
    for name, (kinds, low, high) in CLASSES.items():
        errors = [row[6:] for row in rows if row[0] in kinds and low <= row[3] < high]
        lines.append(summary(name, errors))
    return markdown(("points", "number", *SYMBOLS), lines)


def field_table(rows):
    """A line for each class of alpha, for the field table."""
    lines = (summary(name, [row[3:] for row in rows if row[0] == name]) for name in TABLE_CLASSES)
    return markdown(("points", "number", "double", "single"), lines)


def search_table(rows):
    """A line for each box: the largest errors found."""
    errors = {(name, quantity): short(error) for name, quantity, error, *_ in rows}
    lines = ([name, *(errors[name, quantity] for quantity in QUANTITIES)] for name in BOXES)
    return markdown(("searched", *SYMBOLS), lines)


def quantile_table(rows):
    """A line for each range of q, a column for each class of alpha: largest errors of x and of sf(x)."""
    errors = {(name, quantity): short(error) for name, quantity, error, *_ in rows}
    lines = []
    for interval in QUANTILE_RANGES:
        names = [f"{name}, {interval}" for name in QUANTILE_ALPHAS]
        lines.append(
            [interval, *(f"{errors[name, 'x']} / {errors[name, 'sf(x)']}" for name in names)]
        )
    return markdown(("", *QUANTILE_ALPHAS), lines)


def replace_block(text, name, lines):
    """`text` with the lines between the comments `name` and `end name` replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{PAGE.name} must have the comments '{begin}' and '{end}' once each")
    before, after = text.split(begin)[0], text.split(end)[1]
    return before + "\n".join([begin, *lines, end]) + after


def main():
    """Command line."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("program", help="the compiled example `evaluate` of levy-stable")
    parser.add_argument("--seed", type=int, default=1, help="of the random points (default 1)")
    args = parser.parse_args()
    rng = random.Random(args.seed)

    columns = ("kind", "row", "column", "alpha", "x", "regime", *QUANTITIES)
    law = save("errors.csv", columns, measure_law(args.program, rng))
    worst = [*search_law(args.program, rng), *search_quantile(args.program, rng)]
    save("worst.csv", ("where", "quantity", "error", "alpha", "x or q"), worst)
    progress("field table and regimes")
    columns = ("kind", "alpha", "v", "double", "single")
    table = save("table.csv", columns, measure_table(args.program, rng))
    save("regimes.csv", ("alpha", "origin_end", "tail_start"), find_regimes(args.program))

    text = PAGE.read_text(encoding="utf-8")
    text = replace_block(text, "law", law_table(law))
    text = replace_block(text, "search", search_table(worst))
    text = replace_block(text, "quantile", quantile_table(worst))
    text = replace_block(text, "table", field_table(table))
    PAGE.write_text(text, encoding="utf-8")
    progress(f"{PAGE.relative_to(ROOT)} is up to date")


if __name__ == "__main__":
    main()
