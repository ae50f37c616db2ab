"""Options that all examples have."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl


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
    """The name of a figure, in a format that matplotlib writes."""
    formats = mpl.backend_bases.FigureCanvasBase.get_supported_filetypes()
    if Path(text).suffix[1:] not in formats:
        raise argparse.ArgumentTypeError(
            f"expected the name of a picture such as figure.png, got {text!r}"
        )
    return Path(text)
