"""Stan models, by BridgeStan: log density and gradient over unconstrained parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld._constraints import Array
from fuld._model import Model, NotPicklableError


class StanModel(Model):
    """A compiled Stan program with its data, as ``bridgestan.StanModel`` holds it."""

    vectorized = False

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        self.model = model
        self.name = model.name()
        self.dim = model.param_unc_num()
        if self.dim == 0:
            raise TypeError(f"the Stan model {self.name} has no parameters to sample")
        self.dims = {}
        self.coords = {}
        #: Why Stan rejected the last point that it rejected.
        self.rejected = ""
        names = model.param_names(include_tp=True)
        if not all(re.fullmatch(r"[^.:]+(\.\d+)*", name) for name in names):
            raise TypeError(
                f"the Stan model {self.name} has tuples or complex numbers among its parameters, "
                "which fuld does not return: use real parameters"
            )

    def __call__(self, x: Array, *words: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return f = -log p and its gradient at one point."""
        try:
            value, gradient = self.model.log_density_gradient(x, propto=True, jacobian=True)
        except RuntimeError as error:  # as points at which a distribution is not defined
            self.rejected = str(error)
            return np.inf, np.full(self.dim, np.nan)
        return -value, -gradient

    def values(self, x: Array) -> dict[str, NDArray[Any]]:
        """Return parameters and transformed parameters, in the shapes of the program."""
        names = self.model.param_names(include_tp=True)
        rows = np.full((len(x), len(names)), np.nan)
        for row, point in zip(rows, x, strict=True):
            with suppress(RuntimeError):  # transformed parameters may be undefined
                row[:] = self.model.param_constrain(point, include_tp=True)
        return _arrays(names, rows)

    def coordinates(self, values: Mapping[str, object]) -> Array:
        """Return the point at which the parameters have these values."""
        arrays = {name: np.asarray(value).tolist() for name, value in values.items()}
        try:
            point: Array = self.model.param_unconstrain_json(json.dumps(arrays))
        except RuntimeError as error:
            raise ValueError(f"start does not fit the Stan model: {str(error).strip()}") from None
        return point

    def __reduce__(self) -> tuple[Any, ...]:
        raise NotPicklableError(
            "a compiled Stan model cannot be sent to other processes: sample without executor="
        )

    def identity(self) -> object:
        """Return a hash of the program; its data cannot be read back."""
        raise TypeError(
            "the data of a Stan model cannot be identified when a store is continued: sample "
            "without store="
        )


def _arrays(names: list[str], rows: Array) -> dict[str, NDArray[Any]]:
    """Return arrays by variable from columns named like theta.2.1, the first index fastest."""
    columns: dict[str, list[int]] = {}
    indices: dict[str, tuple[int, ...]] = {}
    for column, full in enumerate(names):
        name, *index = full.split(".")
        columns.setdefault(name, []).append(column)
        # The last element has the largest indices.
        indices[name] = tuple(int(i) for i in index)
    return {
        name: rows[:, places]
        .reshape(len(rows), *indices[name][::-1])
        .transpose(0, *range(len(indices[name]), 0, -1))
        for name, places in columns.items()
    }
