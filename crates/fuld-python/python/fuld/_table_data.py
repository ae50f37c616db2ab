"""Tables of the field ∇G_α as arrays, for lookups in the memory of devices.

This is the serialised form `levy_stable::table::TableData`, which also describes how a table is
evaluated. Torch, Triton and JAX read nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fuld import _native

FORMAT = 1
"""Version of the format that this module reads."""


@dataclass(frozen=True)
class TableData:
    """The field of one alpha, or of a band of alpha."""

    lowest: int
    """Binary exponent of the first octave."""
    near_octaves: int
    """Number of octaves, from the first on, that hold ∇G/v. The others hold v∇G."""
    octaves: NDArray[np.int32]
    """Index of the first piece, and split, of each octave."""
    coefficients: NDArray[np.float64]
    """By piece, power of alpha's coordinate, and power of t; the lowest power first."""
    log_ratio: tuple[float, float] | None = None
    """Ends of a band in log2((2 - alpha)/alpha)."""

    @property
    def shift(self) -> float:
        """The power of two that is added to small v."""
        return 2.0**self.lowest

    @property
    def switch(self) -> float:
        """The least v at which pieces hold v∇G, a power of two; infinite if there is none."""
        if self.near_octaves == len(self.octaves):
            return np.inf
        return 2.0 ** (self.lowest + self.near_octaves - 1)

    def near(self, dtype: DTypeLike) -> float:
        """Return the largest v of a precision at which pieces hold ∇G/v."""
        real: Any = np.dtype(dtype).type
        switch = real(self.switch)
        return float(switch if np.isinf(switch) else np.nextafter(switch, real(0)))

    @property
    def packed(self) -> NDArray[np.int32]:
        """First piece and split of each octave in one integer."""
        return self.octaves[:, 0] << 4 | self.octaves[:, 1]


def table_data(alpha: float, dtype: DTypeLike) -> TableData:
    """Return the table of one alpha, 0.1 <= alpha <= 2, for float32 or float64.

    It has 4 coefficients in t for float32 (relative error 3e-7) and 8 for float64 (1e-12).
    """
    return _read(*_native.table_data(alpha, np.dtype(dtype) == np.float32))


def alpha_bands() -> list[TableData]:
    """Return the tables of the bands that cover 0.1 <= alpha <= 2 - 2**-30, from 2 down."""
    return [_read(*arrays) for arrays in _native.alpha_bands()]


def _read(
    version: int,
    log_ratio: list[float] | None,
    lowest: int,
    near_octaves: int,
    octaves: NDArray[np.int32],
    coefficients: NDArray[np.float64],
) -> TableData:
    if version != FORMAT:
        raise RuntimeError(
            f"the native module makes tables of format {version}, fuld reads {FORMAT}: "
            "install the package again"
        )
    band = None if log_ratio is None else (log_ratio[0], log_ratio[1])
    return TableData(lowest, near_octaves, octaves, coefficients, band)
