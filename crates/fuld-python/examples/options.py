"""Options that all examples have."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

FORMATS = (".png", ".svg", ".pdf")


def parser(description: str, figure: str) -> argparse.ArgumentParser:
    """A parser with --seed and --out; `description` is the docstring of the example."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--seed", type=at_least_zero, default=0, help="the first of the seeds (0)")
    made.add_argument(
        "--out",
        type=picture,
        default=Path(figure),
        help=f"the figure, .png, .svg or .pdf ({figure})",
    )
    return made


def parse(made: argparse.ArgumentParser) -> argparse.Namespace:
    """What the user chose; who lacks matplotlib hears it now, and not after the computation."""
    choice = made.parse_args()
    if find_spec("matplotlib") is None:
        sys.exit("the examples draw with matplotlib, which is not here: pip install matplotlib")
    return choice


def at_least_zero(text: str) -> int:
    """A number of steps or a seed."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")
    return int(text)


def at_least_one(text: str) -> int:
    """A count of something that there must be."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, got {text!r}")
    return int(text)


def picture(text: str) -> Path:
    """The name of a figure, in a format and a folder that it can be written to."""
    path = Path(text)
    if path.suffix not in FORMATS:
        raise argparse.ArgumentTypeError(
            f"expected the name of a picture such as figure.png, .svg or .pdf, got {text!r}"
        )
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"there is no folder {str(path.parent)!r} for the figure: make it first"
        )
    return path
