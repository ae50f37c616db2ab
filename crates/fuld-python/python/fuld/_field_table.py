"""The field ∇G_α of fractional underdamped Langevin dynamics."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fuld import _native
from fuld._arrays import Values, double_array, real_array
from fuld._rvs import real_dtype
from fuld._symmetric_stable import SymmetricStable


def grad_g(v: ArrayLike, alpha: ArrayLike) -> Values:
    """The field ∇G_α(v), minus the score of SαS(α^(-1/α)), as accurate as `SymmetricStable.score`.

    Parameters
    ----------
    v : array_like
        Velocities of any shape. float32 gives float32, all else float64.
    alpha : array_like of float
        Tail index, 0.0075 <= alpha <= 2; broadcasts with v. Below, the scale α^(-1/α) nears the
        largest double; for alpha < 0.01 the field is right for abs(v) >= 1e-30.

    See Also
    --------
    field_table : the same a hundred times faster, to 1e-12, for one alpha.

    Examples
    --------
    >>> from fuld import grad_g
    >>> grad_g([0.5, 1.0, 2.0], 2.0)
    array([0.5, 1. , 2. ])
    >>> grad_g([0.5, 1.0, 2.0], 1.0)
    array([0.8, 1. , 0.8])
    """
    return -SymmetricStable.kinetic(alpha).score(real_array(v, "v"))


def field_table(alpha: float, dtype: DTypeLike = np.float64) -> FieldTable:
    """Return a table of the field ∇G_α of one alpha, for some hundred million values per second.

    See `FieldTable` for its accuracy. Building it takes 2 to 40 milliseconds.

    Examples
    --------
    >>> from fuld import field_table
    >>> field = field_table(1.0)
    >>> field([0.5, 1.0, 2.0])
    array([0.8, 1. , 0.8])
    """
    return FieldTable(alpha, dtype)


@final
class FieldTable:
    """The field ∇G_α on all of ℝ, tabulated; built by `field_table`.

    The relative error is at most 1e-12 in float64 and 2e-7 in float32, for every v. The field is
    odd to the last bit, 0 at 0, NaN at NaN, and at alpha = 2 it is v.

    Parameters
    ----------
    alpha : float
        Tail index, 0.1 <= alpha <= 2.
    dtype : dtype, optional
        float64 or float32, the type of arguments and results.

    Examples
    --------
    >>> import numpy as np
    >>> from fuld import field_table
    >>> field = field_table(1.5, np.float32)
    >>> field
    FieldTable(alpha=1.5, dtype=float32)
    >>> v = np.linspace(-1, 1, 3, dtype=np.float32)
    >>> field(v, out=v)  # in place
    array([-1.0743474,  0.       ,  1.0743474], dtype=float32)
    """

    __slots__ = ("_alpha", "_dtype", "_table")

    def __init__(self, alpha: float, dtype: DTypeLike = np.float64) -> None:
        values = double_array(alpha, "alpha")
        if values.ndim:
            raise TypeError(f"a table is for one alpha, got an array of shape {values.shape}")
        self._alpha: float = values.item()
        self._dtype = real_dtype(dtype)
        self._table = _native.FieldTable(self._alpha)

    @property
    def alpha(self) -> float:
        """The tail index."""
        return self._alpha

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of arguments and results."""
        return self._dtype

    def __call__(self, v: ArrayLike, out: NDArray[Any] | None = None) -> Values:
        """Return ∇G_α(v), written to `out` if that is given.

        Arrays must have the table's dtype; numbers and lists are converted. `out` may be v.
        """
        values = real_array(v, "v")
        if isinstance(v, np.ndarray) and values.dtype != self._dtype:
            raise TypeError(
                f"the table is of {self._dtype}, got v of {values.dtype}: "
                f"make one with field_table(alpha, {values.dtype})"
            )
        values = values.astype(self._dtype, copy=False)
        if out is None:
            result = np.empty_like(values)
            self._fill(values, result)
            return result[()]
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be an array, got {out!r}")
        if out.dtype != self._dtype or out.shape != values.shape:
            raise ValueError(
                f"out must be of {self._dtype} and shape {values.shape}, "
                f"got {out.dtype} and {out.shape}"
            )
        self._fill(values.copy() if np.may_share_memory(values, out) else values, out)
        return out

    def _fill(self, v: NDArray[Any], out: NDArray[Any]) -> None:
        if out.flags.c_contiguous:
            self._table.eval_into(np.ascontiguousarray(v).reshape(-1), out.reshape(-1))
        elif out.flags.f_contiguous:
            self._fill(v.T, out.T)
        else:
            out[...] = self(v.copy(order="C"))

    def __repr__(self) -> str:
        return f"FieldTable(alpha={self._alpha}, dtype={self._dtype})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldTable):
            return NotImplemented
        return (self._alpha, self._dtype) == (other._alpha, other._dtype)

    def __hash__(self) -> int:
        return hash((self._alpha, self._dtype))

    def __reduce__(self) -> tuple[type[FieldTable], tuple[float, str]]:
        return FieldTable, (self._alpha, self._dtype.name)
