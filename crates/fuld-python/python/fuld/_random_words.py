"""Words of random bits from NumPy's generators."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: As in scipy, None and the module numpy.random are NumPy's global generator, and an integer seeds
#: a RandomState.
RandomState: TypeAlias = (
    "int | np.integer[Any] | np.random.Generator | np.random.RandomState | ModuleType | None"
)


def random_words(random_state: RandomState) -> Callable[[int], NDArray[np.uint64]]:
    """A function that takes the next n words of 64 random bits from the generator's stream."""
    integers: Callable[..., NDArray[np.uint64]]
    if isinstance(random_state, np.random.Generator):
        integers = random_state.integers
    elif isinstance(random_state, np.random.RandomState):
        integers = random_state.randint
    elif random_state is None or random_state is np.random:
        integers = np.random.randint
    elif isinstance(random_state, numbers.Integral):
        integers = np.random.RandomState(int(random_state)).randint
    else:
        raise TypeError(
            "random_state must be None, an integer, a numpy.random.Generator or a "
            f"numpy.random.RandomState, got {random_state!r}"
        )
    return lambda n: integers(0, 2**64, size=n, dtype=np.uint64)
