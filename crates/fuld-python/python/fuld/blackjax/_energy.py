"""The kinetic energy G_α in JAX: the integral of the tabulated field."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fuld.optax._field import Field, Number, evaluate, field, locate, look_up

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(8)
#: Points and weights of the Gauss-Legendre rule on [0, 1]. The field is a polynomial of degree 7 at
#: most, times v or divided by v. 8 points integrate the product exactly. The error of ∫dv/v is
#: 6e-13 on [1, 2], the piece with the largest ratio of its ends.
RULE = [(0.5 + 0.5 * point, 0.5 * weight) for point, weight in zip(_POINTS, _WEIGHTS, strict=True)]


class Energy(NamedTuple):
    """The table of one alpha, with the energy at the left ends of its pieces."""

    field: Field
    starts: Any
    #: The octave that continues to infinity.
    last: Any


def energy_table(alpha: Number, dtype: np.dtype[Any]) -> Energy:
    """Return the table of an alpha, known or traced, for arguments of a dtype."""
    if isinstance(alpha, float):
        return _known_table(alpha, dtype)
    table = field(alpha, dtype)
    return Energy(table, _starts(table, jnp), jnp.argmax(table.octaves == table.octaves[-1]))


@functools.lru_cache(maxsize=64)
def _known_table(alpha: float, dtype: np.dtype[Any]) -> Energy:
    table = field(alpha, dtype)
    double = table._replace(
        shift=np.float64(table.shift),
        switch=np.float64(table.switch),
        coefficients=table.coefficients.astype(np.float64),
    )
    return Energy(table, _starts(double, np).astype(dtype), np.int32(len(table.octaves) - 1))


def _starts(table: Field, xp: Any) -> Any:  # noqa: ANN401
    """Return the energy at the left end of every piece, in the precision of the table."""
    first, split = table.octaves >> 4, table.octaves & 15
    pieces = xp.arange(len(table.coefficients), dtype=np.int32)
    octave = xp.searchsorted(first, pieces, side="right").astype(np.int32) - 1
    width = xp.ldexp(table.shift, octave - split[octave])
    edge = xp.ldexp(table.shift, octave) + (pieces - first[octave]) * width
    # Only the first octave of u is v + shift: above it u is 2v.
    width = xp.where(octave == 0, width, 0.5 * width)
    start = _start(table, octave, edge, xp)
    integrals = _integrals(table.coefficients.T, start, width, 0.5, start >= table.switch, xp)
    # Pieces of a padded band beyond its last octave have no meaning, and integrals that overflow.
    return xp.cumsum(xp.pad(integrals, (1, 0))[:-1])


def _start(table: Field, octave: Any, edge: Any, xp: Any) -> Any:  # noqa: ANN401
    """Return the left end of a piece in v."""
    return xp.where(octave == 0, edge - table.shift, 0.5 * edge)


def _integrals(
    coefficients: Any,  # noqa: ANN401
    start: Any,  # noqa: ANN401
    length: Any,  # noqa: ANN401
    t: Any,  # noqa: ANN401
    far: Any,  # noqa: ANN401
    xp: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Integrate the field over the first `length` of pieces, where it ends at t."""
    total = 0.0
    for point, weight in RULE:
        held, place = 0.0, (t + 0.5) * point - 0.5
        for coefficient in coefficients[::-1]:
            held = held * place + coefficient
        v = start + length * point
        total = total + weight * held * xp.where(far, length / xp.where(far, v, 1), length * v)
    return total


@jax.custom_jvp
@jax.jit
def energy(table: Energy, v: jax.Array) -> jax.Array:
    """Return G_α(v) - G_α(0) by the table of alpha; its derivative is the field.

    The relative error is that of the field: 1e-12 in float64 and 1e-6 in float32 for a known alpha.
    """
    # Beyond, 2v overflows: there the energy is constant, and kicks do not change v.
    size = jnp.minimum(jnp.abs(v), 0.5 * float(np.finfo(v.dtype).max))
    place = locate(table.field, size)
    columns = [look_up(column, place.piece) for column in jnp.transpose(table.field.coefficients)]
    start = _start(table.field, place.octave, place.edge, jnp)
    far = size >= table.field.switch
    within = _integrals(columns, start, size - start, place.t, far, jnp)
    # In the last octave v∇G is a constant, and a factor of 2 in v adds it times log 2.
    over = jnp.maximum(place.octave - table.last, 0) * (np.log(2) * columns[0])
    value = look_up(jnp.asarray(table.starts), place.piece) + over + within
    return jnp.where(table.field.gauss, 0.5 * v * v, value)


@energy.defjvp
def _derivative(
    primals: tuple[Energy, jax.Array], tangents: tuple[Energy, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    table, v = primals
    return energy(table, v), evaluate(table.field, v) * tangents[1]
