"""Formats text tables, with one line per parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDEST = 40
"""Largest width of a name, in characters."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, without its empty columns."""
    columns = [column for column in zip(heads, *rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in zip(*columns, strict=True)
    ]
    rule = "-" * sum(widths, 2 * len(widths) - 2)
    return [lines[0], rule, *lines[1:]]


def ending(name: str, widest: int = WIDEST) -> str:
    """Return a name, or the end of a long one, which is more specific than its beginning."""
    return name if len(name) <= widest else "…" + name[1 - widest :]


def number(value: float, form: str) -> str:
    """Return a formatted number, or an empty string for NaN."""
    return "" if math.isnan(value) else format(value, form)
