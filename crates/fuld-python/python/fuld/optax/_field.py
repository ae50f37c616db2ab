"""The field ∇G_α in JAX, for an alpha that may be traced, evaluated from tables."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from fuld._table_data import alpha_bands, table_data

#: A number, known or traced.
Number: TypeAlias = float | jax.Array

LEAST_ALPHA = 0.1


class Bands(NamedTuple):
    """The tables of all bands of alpha, end to end, in one precision."""

    #: Where each band begins in r = (2 - alpha)/alpha.
    starts: NDArray[Any]
    #: The middle of each band, geometric in r.
    middle: NDArray[Any]
    #: Octaves of r in each band.
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
        """Pieces of the longest band."""
        return int(np.diff(self.first, append=len(self.coefficients)).max())


@functools.cache
def bands(dtype: np.dtype[Any]) -> Bands:
    """Return the bands, built on first use."""
    if dtype != np.float64:
        double = bands(np.dtype(np.float64))
        return Bands(*(x.astype(dtype) if x.dtype == np.float64 else x for x in double))
    tables = alpha_bands()
    ends = np.array([table.log_ratio for table in tables], np.float64)
    most = max(len(table.octaves) for table in tables)
    packed = [np.pad(t.packed, (0, most - len(t.octaves)), mode="edge") for t in tables]
    lengths = np.array([len(table.coefficients) for table in tables])
    return Bands(
        np.exp2(ends[:, 0]),
        np.exp2(ends.mean(axis=1)),
        np.diff(ends, axis=1)[:, 0],
        np.array([table.shift for table in tables]),
        np.array([table.switch for table in tables]),
        np.array([table.lowest for table in tables], np.int32),
        np.stack(packed).astype(np.int32),
        np.concatenate([table.coefficients for table in tables]),
        (np.cumsum(lengths) - lengths).astype(np.int32),
    )


class Field(NamedTuple):
    """The table of one alpha, as `levy_stable::table::TableData` describes it."""

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
    """Return the table of an alpha for arguments of a dtype, float32 or float64.

    For a known alpha this is the table of that alpha alone, which becomes a constant of the
    program. For a traced alpha the program evaluates the polynomials in alpha of a band; the
    result is NaN if alpha is outside [0.1, 2].
    """
    if isinstance(alpha, float):
        return _known_field(alpha, dtype)
    return _contracted(jnp.asarray(alpha, dtype), bands(dtype))


@functools.lru_cache(maxsize=64)
def _known_field(alpha: float, dtype: np.dtype[Any]) -> Field:
    table, real = table_data(alpha, dtype), dtype.type
    return Field(
        np.asarray(alpha == 2),
        real(table.shift),
        real(table.switch),
        np.int32(table.lowest),
        table.packed,
        table.coefficients[:, 0].astype(dtype),
    )


def _contracted(alpha: jax.Array, table: Bands) -> Field:
    """Evaluate the polynomials in alpha."""
    starts, middle, width, shift, switch, lowest, octaves, coefficients, first = (
        jnp.asarray(x) for x in table
    )
    # Only doubles are closer to 2 than the first band: they get its edge.
    ratio = jnp.maximum((2 - alpha) / alpha, starts[0])
    band = jnp.sum(ratio >= starts[1:])
    place = jnp.log2(ratio / middle[band]) / width[band]
    place = jnp.where((alpha >= LEAST_ALPHA) & (alpha <= 2), place, jnp.nan)
    rows = first[band] + jnp.arange(table.most_pieces, dtype=np.int32)
    pieces = jnp.take(coefficients, rows, axis=0, mode="clip")
    # As a product of matrices: the compiler would evaluate plain polynomials again for every v.
    powers = place ** jnp.arange(pieces.shape[1])
    held = jnp.matmul(powers, pieces, precision="highest")
    return Field(alpha == 2, shift[band], switch[band], lowest[band], octaves[band], held)


class Place(NamedTuple):
    """Where in a table numbers are."""

    #: Octave of u, counted from the first of the table and on beyond the last.
    octave: jax.Array
    piece: jax.Array
    #: Left end of the piece, in u.
    edge: jax.Array
    #: Place within the piece, -1/2 <= t < 1/2.
    t: jax.Array


def locate(field: Field, size: jax.Array) -> Place:
    """Return the places of numbers that are not negative."""
    bits, mantissa, bias = _layout(np.dtype(size.dtype))
    one = jnp.asarray(1, bits)
    octaves = jnp.asarray(field.octaves)

    u = jnp.where(size < field.shift, size + field.shift, 2 * size)
    u = jnp.minimum(u, float(np.finfo(size.dtype).max))
    word = lax.bitcast_convert_type(u, bits)
    exponent = word >> mantissa
    octave = exponent - (bias + field.lowest)
    packed = look_up(octaves, jnp.clip(octave, 0, octaves.shape[0] - 1).astype(np.uint32))
    first, split = packed >> 4, (packed & 15).astype(bits)
    within = (word & ((one << mantissa) - 1)) >> (mantissa - split)
    piece = (first + within.astype(np.int32)).astype(np.uint32)

    # From the edge and the length of the piece, which are constants in differentiation.
    edge = lax.bitcast_convert_type(word >> (mantissa - split) << (mantissa - split), size.dtype)
    pieces_per_unit = lax.bitcast_convert_type(
        (2 * bias - exponent + split) << mantissa, size.dtype
    )
    return Place(octave, piece, edge, (u - edge) * pieces_per_unit - 0.5)


def _evaluate(field: Field, v: jax.Array) -> jax.Array:
    columns = jnp.transpose(field.coefficients)
    size = jnp.abs(v)
    place = locate(field, size)

    # One column at a time, so that no array of rows is allocated.
    held = look_up(columns[-1], place.piece)
    for power in range(columns.shape[0] - 2, -1, -1):
        held = held * place.t + look_up(columns[power], place.piece)

    far = size >= field.switch
    value = jnp.where(far, held / jnp.where(far, v, 1), held * v)
    return jnp.where(field.gauss, v, value)


#: ∇G_α(v) by the table of alpha, differentiable in v, and in alpha where that was traced.
evaluate = jax.jit(_evaluate)


def look_up(row: jax.Array, index: jax.Array) -> jax.Array:
    """Return row[index], distributed over devices as the index is."""
    sharding = jax.typeof(index).sharding
    return row.at[index].get(
        mode="promise_in_bounds",
        # With explicit mesh axes, indexing does not choose a sharding by itself.
        out_sharding=sharding if sharding.mesh.explicit_axes else None,
    )


def _layout(dtype: np.dtype[Any]) -> tuple[Any, int, int]:
    """Return the integers of a type's size, the bits of its mantissa and its exponent of 1."""
    return (np.int64, 52, 1023) if dtype == np.float64 else (np.int32, 23, 127)
