"""Independent draws of the law."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from math import prod
from operator import index
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fuld import _native
from fuld._arrays import Values
from fuld._random_words import RandomState, random_words

#: The length or shape of the draws.
Size: TypeAlias = SupportsIndex | Iterable[SupportsIndex]

# Words taken from the generator at a time: BLOCK fits into the nearest cache, SHARED is enough
# work for several threads.
BLOCK = 1 << 14
SHARED = 1 << 18

# The table of one alpha takes some milliseconds and some hundred kilobytes.
sampler = lru_cache(maxsize=64)(_native.Sampler)


def draw(
    alpha: NDArray[np.float64],
    scale: NDArray[np.float64],
    size: Size | None,
    random_state: RandomState,
    dtype: DTypeLike,
) -> Values:
    """Draws of SαS(scale), one word of random bits each, in C order."""
    out: NDArray[Any] = np.empty(drawn_shape(alpha, scale, size), real_dtype(dtype))
    words = random_words(random_state)
    flat = out.reshape(-1)
    length = BLOCK if out.size < SHARED else SHARED
    for start in range(0, out.size, length):
        block = flat[start : start + length]
        here = slice(start, start + block.size)
        scales = part(scale, out.shape, here)
        if alpha.size == 1:
            sampler(alpha.item()).transform(words(block.size), scales, block)
        else:
            mixed(part(alpha, out.shape, here), scales, words(block.size), block)
    return out[()]


def part(values: NDArray[np.float64], shape: tuple[int, ...], here: slice) -> NDArray[np.float64]:
    """The values that belong to a part of the draws in C order; a single one serves all."""
    return values.reshape(1) if values.size == 1 else np.broadcast_to(values, shape).flat[here]


def mixed(
    alpha: NDArray[np.float64],
    scale: NDArray[np.float64],
    words: NDArray[np.uint64],
    out: NDArray[Any],
) -> None:
    """Draws whose laws differ: those of each alpha together."""
    for one in np.unique(alpha):
        chosen = alpha == one
        draws = np.empty(np.count_nonzero(chosen), out.dtype)
        scales = scale if scale.size == 1 else scale[chosen]
        sampler(one.item()).transform(words[chosen], scales, draws)
        out[chosen] = draws


def drawn_shape(
    alpha: NDArray[np.float64], scale: NDArray[np.float64], size: Size | None
) -> tuple[int, ...]:
    """The shape of draws of the wanted size, into which the parameters must fit."""
    laws = np.broadcast_shapes(alpha.shape, scale.shape)
    if size is None:
        return laws
    shape = as_shape(size)
    try:
        fits = np.broadcast_shapes(shape, laws) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"size = {size} cannot hold draws of laws of shape {laws}: end it with that shape"
        )
    return shape


def as_shape(size: Size) -> tuple[int, ...]:
    """A size as NumPy's functions take it."""
    try:
        shape = tuple(map(index, size)) if isinstance(size, Iterable) else (index(size),)
    except TypeError:
        raise TypeError(f"size must be an integer or a tuple of integers, got {size!r}") from None
    if any(n < 0 for n in shape):
        raise ValueError(f"size must not be negative, got {size!r}")
    if prod(shape) > sys.maxsize // 8:
        raise ValueError(f"size = {size!r} asks for more numbers than a computer can hold")
    return shape


def real_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The dtype, if it is float32 or float64."""
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise TypeError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
    return np.dtype(dtype)
