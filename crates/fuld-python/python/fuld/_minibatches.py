"""Minibatches: rows of the data that random bits choose, for each chain and each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Constants of SplitMix64 (Steele, Lea and Flood 2014), which turns counters into random bits.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True)
class Rows:
    """Data with one row per observation: an array, or a tuple, list or dict of arrays."""

    data: Any
    count: int
    """The number of rows."""
    batch_size: int | None
    """Rows of a minibatch; None for all data."""

    def batch(self, words: NDArray[np.uint64]) -> Any:  # noqa: ANN401
        """Return the rows that random bits choose: arrays (chains, batch_size, ...).

        Rows are drawn uniformly with replacement, so that sums over them, times count / batch_size,
        are unbiased.
        """
        if self.batch_size is None:
            return self.data
        places = np.arange(1, self.batch_size + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            z = np.asarray(words, np.uint64)[:, None] + places * _GAMMA
            z = (z ^ (z >> np.uint64(30))) * _MIX[0]
            z = (z ^ (z >> np.uint64(27))) * _MIX[1]
        bits = (z ^ (z >> np.uint64(31))) >> np.uint64(11)
        rows = (bits * (self.count / 2.0**53)).astype(np.int64)
        return map_arrays(lambda array: array[rows], self.data)


def rows_of(data: Any, batch_size: int | None) -> Rows:  # noqa: ANN401
    """Check data and return its rows; arrays of torch and JAX become those of NumPy."""
    arrays = map_arrays(_array, data)
    lengths = {len(array) for array in _leaves(arrays)}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(
            "all arrays of data must have the same number of rows, at least one, got "
            f"{sorted(lengths) or 'none'}"
        )
    count = lengths.pop()
    if batch_size is not None and batch_size > count:
        raise ValueError(f"batch_size must be at most {count}, the rows of data, got {batch_size}")
    return Rows(arrays, count, batch_size)


def _array(value: Any) -> NDArray[Any]:  # noqa: ANN401
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    if array.ndim == 0 or array.dtype.kind not in "biufc":
        raise TypeError(
            "data must be an array with one row per observation, or a tuple, list or dict of such "
            f"arrays, got {type(value).__name__}"
        )
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def map_arrays(function: Any, nested: Any) -> Any:  # noqa: ANN401
    """Return the results of a function for an array, or for each in tuples, lists and dicts."""
    if isinstance(nested, dict):
        return {name: map_arrays(function, value) for name, value in nested.items()}
    if isinstance(nested, (tuple, list)):
        made = [map_arrays(function, value) for value in nested]
        # A named tuple takes its fields one by one.
        return type(nested)(*made) if hasattr(nested, "_fields") else type(nested)(made)
    return function(nested)


def _leaves(nested: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(nested, dict):
        return [leaf for value in nested.values() for leaf in _leaves(value)]
    if isinstance(nested, (tuple, list)):
        return [leaf for value in nested for leaf in _leaves(value)]
    return [nested]
