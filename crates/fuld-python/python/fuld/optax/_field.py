"""The field ∇G_α in JAX, for an alpha that may be traced: looked up in a table in alpha and v."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from fuld import _native

#: A number, known or traced.
Number: TypeAlias = float | jax.Array

LEAST_ALPHA = 0.1


class Bands(NamedTuple):
    """The bands of `_native.alpha_bands`, end to end, in one precision."""

    starts: NDArray[Any]
    middle: NDArray[Any]
    width: NDArray[Any]
    shift: NDArray[Any]
    switch: NDArray[Any]
    lowest: NDArray[np.int32]
    #: First piece and split of each octave in one integer; all bands have as many as the longest.
    octaves: NDArray[np.int32]
    coefficients: NDArray[Any]
    #: Where the pieces of each band begin.
    first: NDArray[np.int32]

    @property
    def most_pieces(self) -> int:
        """How many the longest band has."""
        return int(np.diff(self.first, append=len(self.coefficients)).max())


@functools.cache
def bands(dtype: np.dtype[Any]) -> Bands:
    """Return the table, made when it is first wanted."""
    if dtype != np.float64:
        double = bands(np.dtype(np.float64))
        return Bands(*(x.astype(dtype) if x.dtype == np.float64 else x for x in double))
    starts, middle, width, shift, switch, lowest, octaves, coefficients = zip(
        *_native.alpha_bands(), strict=True
    )
    most = max(len(o) for o in octaves)
    packed = [np.pad(o[:, 0] << 4 | o[:, 1], (0, most - len(o)), mode="edge") for o in octaves]
    lengths = np.array([len(c) for c in coefficients])
    return Bands(
        np.array(starts),
        np.array(middle),
        np.array(width),
        np.array(shift),
        np.array(switch),
        np.array(lowest, np.int32),
        np.stack(packed).astype(np.int32),
        np.concatenate(coefficients),
        (np.cumsum(lengths) - lengths).astype(np.int32),
    )


class Field(NamedTuple):
    """∇G_α of one alpha as a table in v: the form that `levy_stable::AlphaBand` describes."""

    #: Whether alpha = 2, where the field is v.
    gauss: Any
    shift: Any
    switch: Any
    lowest: Any
    octaves: Any
    coefficients: Any

    @property
    def slope(self) -> Any:  # noqa: ANN401
        """∇G_α'(0); 1 at alpha = 2."""
        # v = 0 is the left end of the first piece.
        first, slope = self.coefficients[0], 0.0
        for power in range(first.shape[0] - 1, -1, -1):
            slope = slope * -0.5 + first[power]
        xp = np if isinstance(first, np.ndarray) else jnp
        return xp.where(self.gauss, 1, slope)


def field(alpha: Number, dtype: np.dtype[Any]) -> Field:
    """Return the field of an alpha for arguments of a dtype, float32 or float64.

    A known alpha is looked up here and now, in double precision, and only the table of that alpha
    gets into the program; a traced one is looked up by the program. NaN where alpha is outside
    [0.1, 2].
    """
    if isinstance(alpha, float):
        return _known_field(alpha, dtype)
    return _contracted(jnp.asarray(alpha, dtype), bands(dtype), jnp)


@functools.lru_cache(maxsize=64)
def _known_field(alpha: float, dtype: np.dtype[Any]) -> Field:
    known = _contracted(np.float64(alpha), bands(np.dtype(np.float64)), np)
    return Field(*(x.astype(dtype) if x.dtype == np.float64 else x for x in known))


def _contracted(alpha: Any, table: Bands, xp: Any) -> Field:  # noqa: ANN401
    """Evaluate the polynomials in alpha, with NumPy or with JAX."""
    starts, middle, width, shift, switch, lowest, octaves, coefficients, first = (
        xp.asarray(x) for x in table
    )
    # Nearer to 2 than the first band doubles alone can come: they get its edge.
    ratio = xp.maximum((2 - alpha) / alpha, starts[0])
    band = xp.sum(ratio >= starts[1:])
    place = xp.log2(ratio / middle[band]) / width[band]
    place = xp.where((alpha >= LEAST_ALPHA) & (alpha <= 2), place, xp.nan)
    rows = first[band] + xp.arange(table.most_pieces, dtype=np.int32)
    pieces = xp.take(coefficients, rows, axis=0, mode="clip")
    # As a product of matrices: the compiler would sum up plain polynomials anew for every v.
    powers = place ** xp.arange(pieces.shape[1])
    precisely = {} if xp is np else {"precision": "highest"}
    held = xp.matmul(powers, pieces, **precisely)
    return Field(alpha == 2, shift[band], switch[band], lowest[band], octaves[band], held)


def _evaluate(field: Field, v: jax.Array) -> jax.Array:
    bits, mantissa, bias = _layout(np.dtype(v.dtype))
    one = jnp.asarray(1, bits)
    octaves = jnp.asarray(field.octaves)
    columns = jnp.transpose(field.coefficients)

    size = jnp.abs(v)
    u = jnp.where(size < field.shift, size + field.shift, 2 * size)
    u = jnp.minimum(u, float(np.finfo(v.dtype).max))
    word = lax.bitcast_convert_type(u, bits)
    exponent = word >> mantissa
    octave = jnp.clip(exponent - (bias + field.lowest), 0, octaves.shape[0] - 1)
    packed = _look_up(octaves, octave.astype(np.uint32))
    first, split = packed >> 4, (packed & 15).astype(bits)
    within = (word & ((one << mantissa) - 1)) >> (mantissa - split)
    piece = (first + within.astype(np.int32)).astype(np.uint32)

    # t from the edge and the length of the piece, which are constants to differentiation.
    edge = lax.bitcast_convert_type(word >> (mantissa - split) << (mantissa - split), v.dtype)
    pieces_per_unit = lax.bitcast_convert_type((2 * bias - exponent + split) << mantissa, v.dtype)
    t = (u - edge) * pieces_per_unit - 0.5

    # One column at a time: no array of rows is made.
    held = _look_up(columns[-1], piece)
    for power in range(columns.shape[0] - 2, -1, -1):
        held = held * t + _look_up(columns[power], piece)

    far = size >= field.switch
    value = jnp.where(far, held / jnp.where(far, v, 1), held * v)
    return jnp.where(field.gauss, v, value)


#: ∇G_α(v) by the field of alpha, differentiable in v, and in alpha where that was traced.
evaluate = jax.jit(_evaluate)


def _look_up(row: jax.Array, index: jax.Array) -> jax.Array:
    """Return row[index], distributed over devices as the index is."""
    sharding = jax.typeof(index).sharding
    return row.at[index].get(
        mode="promise_in_bounds",
        # Where the mesh is of explicit axes, indexing does not decide this by itself.
        out_sharding=sharding if sharding.mesh.explicit_axes else None,
    )


def _layout(dtype: np.dtype[Any]) -> tuple[Any, int, int]:
    """Return the integers of a type's size, the bits of its mantissa and its exponent of 1."""
    return (np.int64, 52, 1023) if dtype == np.float64 else (np.int32, 23, 127)
