"""Checks and conversions of arguments, done before anything else.

Each function takes the name of an argument, for its error message, and the value.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike


def count(name: str, value: SupportsIndex, least: int) -> int:
    """Return an integer, at least `least` and below 2**64."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if not least <= whole < 2**64:
        raise ValueError(f"{name} must be at least {least} and below 2**64, got {whole}")
    return whole


def count_or_none(name: str, value: SupportsIndex | None, least: int) -> int | None:
    """Return the same as `count`, or None, which stands for a default."""
    return None if value is None else count(name, value, least)


def number(name: str, value: float) -> float:
    """Return a float; its range is checked elsewhere."""
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} must be a number, got {value!r}")


def numbers(**given: float | None) -> dict[str, float | None]:
    """Return floats by name; None stands for a default."""
    return {k: None if value is None else number(k, value) for k, value in given.items()}


def text(name: str, value: str) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a name, got {value!r}")
    return value


def flag(name: str, value: bool) -> bool:
    """Return a bool; other values are probably meant for another argument."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def start(value: ArrayLike, chains: int) -> list[Any]:
    """Return the coordinates of a point (dim,), or of one point for each chain (chains, dim).

    A list: arrays that were sent to other processes may not be aligned.
    """
    forms = "start must be one number, a point of shape (dim,), or a point for each chain, of shape"
    try:
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"{forms} ({chains}, dim); got {value!r}") from None
    if array.ndim > 2 or array.size == 0:
        raise ValueError(f"{forms} ({chains}, dim); got shape {array.shape}")
    numbers: list[Any] = array.tolist()
    return numbers


def seed(value: SupportsIndex | np.random.Generator) -> int:
    """Return a seed, drawn from the generator if it is one."""
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**32))
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(
            "seed must be a whole number, a numpy.random.Generator, or None for a random seed, got "
            f"{type(value).__name__}"
        )
    return count("seed", value, 0)


def params(value: Mapping[str, float] | None) -> dict[str, float]:
    """Return the parameters of a potential."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"params must be a dict like {{'a': 1.0}}, got {value!r}")
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"params must be a dict like {{'a': 1.0}}, got the key {name!r}")
    return {name: number(f"params[{name!r}]", of) for name, of in value.items()}


def executor(value: Any) -> None:  # noqa: ANN401
    """Raise an error if the value is not an executor."""
    from concurrent.futures import Executor

    if not isinstance(value, Executor):
        hint = ": pass client.get_executor()" if hasattr(value, "get_executor") else ""
        raise TypeError(
            "executor must be a concurrent.futures.Executor, such as a ProcessPoolExecutor, got "
            f"{type(value).__name__}{hint}"
        )
