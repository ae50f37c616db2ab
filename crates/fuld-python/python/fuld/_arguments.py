"""Numbers that users pass, or a sentence that says why not."""

import operator
from typing import SupportsIndex


def whole_number(name: str, value: SupportsIndex, least: int = 0) -> int:
    """An integer that the native module can hold and that is not too small."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if not least <= number < 2**64:
        raise ValueError(f"{name} must be an integer from {least} to 2**64 - 1, got {number}")
    return number


def real_number(name: str, value: float) -> float:
    """A number; whether it is in its range is checked where the range is known."""
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name} must be a number, got {value!r}") from None
