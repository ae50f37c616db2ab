"""The estimates of a tail monitor as a text table."""

from __future__ import annotations

import math

from fuld.torch._gradient_tail import GradientTail
from fuld.torch._table import ending, number, table

_HEADS = (
    "parameter",
    "alpha",
    "noise scale",
    "spread",
    "beyond knee",
    "zeros",
    "not finite",
    "sample",
    "steps",
)
_MOST_NAMES = 3


def tail_table(tails: dict[str, GradientTail], total: GradientTail) -> str:
    """Return a table with a line for each tail, and one for all if there are several."""
    rows = [_cells(name, tail) for name, tail in tails.items()]
    if len(tails) != 1:
        rows.append(_cells("all", total))
    return "\n".join([*table(_HEADS, rows), *_lost_momenta(tails, total.nonfinite_momenta)])


def _cells(name: str, tail: GradientTail) -> tuple[str, ...]:
    name = ending(name)
    if tail.note:
        return (name, tail.note, *[""] * (len(_HEADS) - 2))
    return (
        name,
        _pair(tail.alpha, tail.alpha_error, 3),
        _with_error(tail.noise_scale, tail.noise_scale_error),
        number(tail.spread, ".2f"),
        number(tail.beyond_knee, ".2%"),
        number(tail.zeros, ".1%") if tail.zeros else "",
        str(tail.nonfinite or ""),
        str(tail.coordinates),
        str(tail.steps),
    )


def _lost_momenta(tails: dict[str, GradientTail], count: int) -> list[str]:
    """Return a line on the momenta that are not finite, if there are any."""
    if not count:
        return []
    names = [ending(name) for name, tail in tails.items() if tail.nonfinite_momenta]
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES:] = [f"{len(names) - _MOST_NAMES} more"]
    momenta = "1 momentum is" if count == 1 else f"{count} momenta are"
    return [f"{momenta} not finite among those sampled: in {', '.join(names)}"]


def _with_error(value: float, error: float) -> str:
    """Return a number of any size and its error, both with the number's power of ten."""
    power = math.floor(math.log10(value))
    if -3 < power < 4:
        return _pair(value, error, 3 - power)
    pair = _pair(value / 10.0**power, error / 10.0**power, 3)
    return f"{pair}e{power:+03d}" if math.isnan(error) else f"({pair})e{power:+03d}"


def _pair(value: float, error: float, decimals: int) -> str:
    """Return a number and its error; a number without an error has one digit less."""
    if math.isnan(error):
        return f"{value:.{max(decimals - 1, 0)}f}"
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"
