"""Which positions of an array a calibration samples: the same as `fuld::optimizer` in Rust."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from fuld import _native
from fuld.optax._constants import CONSTANTS, ESTIMATORS


@functools.cache
def count(size: int) -> int:
    """Return how many positions of an array of this size are sampled."""
    return (len(_native.calibration_start(size)) - ESTIMATORS) // 2


def positions(shape: tuple[int, ...], quadruple: jax.Array) -> tuple[jax.Array, ...]:
    """Return the sampled positions, as one array of indices for each axis.

    The array is divided into equal parts, and a row of neighbours is sampled in each, which depends
    on the number of the quadruple. Indices per axis work for arrays that are sharded over devices,
    and 32 bits suffice for sides up to 2³¹.
    """
    size = math.prod(shape)
    number = count(size)
    row = number if number == size else int(CONSTANTS.row)
    part = np.arange(number // max(row, 1))
    rows = size // max(row, 1)
    edges = np.append(part * rows // max(len(part), 1), rows)
    most = np.iinfo(np.uint32).max // 2 // int(CONSTANTS.row)
    room = np.diff(edges).clip(1, most).astype(np.uint32)
    start = (row * edges[:-1]).repeat(row)
    offset = np.uint32(row) * (_mixed(part.astype(np.uint32), quadruple) % room)
    offset = jnp.repeat(offset, row) + np.tile(np.arange(row, dtype=np.uint32), len(part))
    indices: list[jax.Array] = []
    for length in reversed(shape):
        offset = offset + (start % length).astype(np.uint32)
        indices.append(offset % np.uint32(length))
        start, offset = start // length, offset // np.uint32(length)
    return tuple(reversed(indices))


def look_up(array: jax.Array, where: tuple[jax.Array, ...]) -> jax.Array:
    """Return the numbers at these positions in single precision, on every device."""
    if not where:
        return array.reshape(1).astype(np.float32)
    sharding = jax.typeof(array).sharding
    found: jax.Array = array.at[where].get(
        mode="promise_in_bounds",
        # In a mesh with explicit axes indexing requires the sharding of its result.
        out_sharding=sharding.update(spec=()) if sharding.mesh.explicit_axes else None,
    )
    return found.astype(np.float32)


def _mixed(part: np.typing.NDArray[np.uint32], quadruple: jax.Array) -> jax.Array:
    """Return a hash of two numbers."""
    mix_part, mix_quadruple, mix_both = (
        np.uint32(x) for x in (CONSTANTS.mix_part, CONSTANTS.mix_quadruple, CONSTANTS.mix_both)
    )
    h = jnp.asarray(part) * mix_part ^ quadruple * mix_quadruple
    h = (h ^ h >> np.uint32(16)) * mix_both
    return h ^ h >> np.uint32(15)
