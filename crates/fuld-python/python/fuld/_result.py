"""Draws with their statistics, and their forms in other packages."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld._model import Model
from fuld._variables import element_names

Output: TypeAlias = Literal["arviz", "xarray", "numpy"]

#: The statistics of exact sampling, in the order in which the native half returns them.
STATISTICS = ("lp", "acceptance_rate", "energy", "diverging")

_NEEDS: dict[str, tuple[str, ...]] = {
    "arviz": ("arviz", "xarray"),
    "xarray": ("xarray",),
    "numpy": (),
}


def check_output(output: str) -> None:
    """Raise an error, before any work, for a form that does not exist or cannot be made here."""
    if not isinstance(output, str) or output not in _NEEDS:
        raise ValueError(f"output must be 'numpy', 'arviz' or 'xarray', got {output!r}")
    for package in _NEEDS[output]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # ArviZ speaks of its own future
                importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"output={output!r} requires {package}, which cannot be imported ({error}): "
                f"install it (pip install 'fuld[arviz]', where fuld came from), or use "
                "output='numpy'"
            ) from None


def _varies(draws: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each coordinate whether any two draws differ."""
    differs: NDArray[np.bool_] = (draws != draws[:1, :1]).any(axis=(0, 1))
    return differs


@dataclass(frozen=True)
class Labels:
    """What is left of a model in pickled draws."""

    dims: Mapping[str, Sequence[str]]
    coords: Mapping[str, Sequence[Any]]


@dataclass
class Draws:
    """Draws of some chains, and their statistics."""

    x: NDArray[np.float64]
    """Positions (chains, draws, dim)."""
    v: NDArray[np.float64] | None
    """Velocities, if they were kept."""
    names: list[str]
    """Names of the coordinates."""
    chains: NDArray[np.int64]
    """Numbers of the chains."""
    settings: Mapping[str, Any]
    """Those of the run."""
    statistics: NDArray[np.float64] | None = None
    """Statistics of exact sampling (chains, draws, STATISTICS)."""
    stopped: str = ""
    """How far it was when it was stopped; empty if it was not."""
    diverged: list[int] = field(default_factory=list)
    """Numbers of the chains that left for infinity."""
    seconds: float = 0.0
    """How long it took."""
    model: Model | Labels | None = None
    """The model whose variables the draws are returned by; None without names."""

    @cached_property
    def named(self) -> dict[str, NDArray[Any]]:
        """The variables of the model by name: arrays (chain, draw, ...); empty without a model."""
        return self.model.named_draws(self.x) if isinstance(self.model, Model) else {}

    @cached_property
    def variables(self) -> dict[str, NDArray[Any]]:
        """Arrays (chain, draw, ...) by name: the variables of the model, or x; and velocities v.

        x and v have a third axis if there are several coordinates.
        """
        velocities = {} if self.v is None else {"v": self.v}
        if self.model is not None:
            return self.named | velocities
        arrays = {"x": self.x} | velocities
        if len(self.names) > 1:
            return arrays
        return {name: array[:, :, 0] for name, array in arrays.items()}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: variables in place of the model."""
        model = None if self.model is None else Labels(self.model.dims, self.model.coords)
        return {**self.__dict__, "named": self.named, "model": model}

    def elements(self) -> tuple[NDArray[np.float64], list[str]]:
        """Return what a summary describes, (chain, draw, element), and names of the elements.

        Elements that are constant by definition, such as the diagonal of a correlation matrix, have
        no effective sample size, and elements that are not finite have no statistics: both are left
        out. If the chains themselves do not move, nothing is.
        """
        if self.model is None or not _varies(self.x).any():
            return self.x, self.names
        elements, names = self._all_elements()
        kept = _varies(elements) & np.isfinite(elements).all(axis=(0, 1))
        if not kept.any():
            return self.x, self.names
        return np.ascontiguousarray(elements[:, :, kept]), list(compress(names, kept))

    def not_finite(self) -> list[str]:
        """Return the names of elements that are not finite in some draws, though the points are."""
        if self.model is None or not np.isfinite(self.x).all():
            return []
        elements, names = self._all_elements()
        finite: NDArray[np.bool_] = np.asarray(np.isfinite(elements).all(axis=(0, 1)))
        return list(compress(names, np.invert(finite)))

    def _all_elements(self) -> tuple[NDArray[np.float64], list[str]]:
        assert self.model is not None
        arrays = self.named.values()
        parts = [np.asarray(a, np.float64).reshape(*a.shape[:2], -1) for a in arrays]
        shapes = {name: array.shape[2:] for name, array in self.named.items()}
        names = element_names(shapes, self.model.dims, self.model.coords)
        return np.concatenate(parts, axis=2), names

    def to(self, output: Output) -> Any:  # noqa: ANN401
        """Return an xarray dataset, or the object of the ArviZ that is installed."""
        check_output(output)
        posterior = self._dataset()
        if output == "xarray":
            return posterior
        import arviz
        import xarray

        statistics = xarray.Dataset(
            {name: (("chain", "draw"), array) for name, array in self.statistics_by_name().items()},
            coords={name: posterior.coords[name] for name in ("chain", "draw")},
        )
        groups = {"posterior": posterior, "sample_stats": statistics}
        if int(arviz.__version__.split(".")[0]) < 1:
            return arviz.InferenceData(attrs=posterior.attrs, **groups)
        return xarray.DataTree.from_dict(groups)

    def statistics_by_name(self) -> dict[str, NDArray[Any]]:
        """Return the statistics of every draw, by their names in ArviZ."""
        if self.statistics is None:
            # A chain that left for infinity has no draws from then on.
            return {"diverging": np.isnan(self.x[:, :, 0])}
        arrays = {name: self.statistics[:, :, i] for i, name in enumerate(STATISTICS)}
        return arrays | {"diverging": arrays["diverging"] == 1}

    def _dataset(self) -> Any:  # noqa: ANN401
        import xarray

        coords: dict[str, Any] = {"chain": self.chains, "draw": np.arange(self.x.shape[1])}
        axes = self.axes()
        sizes = {axis: size for each in axes.values() for axis, size in each.items()}
        labels = {} if self.model is None else self.model.coords
        labels = {"coordinate": self.names, **labels}
        coords |= {a: labels.get(a, np.arange(n)) for a, n in sizes.items() if a not in coords}
        data = {name: (tuple(axes[name]), array) for name, array in self.variables.items()}
        return xarray.Dataset(data, coords=coords, attrs=self._attributes())

    def axes(self) -> dict[str, dict[str, int]]:
        """Return for each variable its axes with their sizes, named as ArviZ names them."""
        named: dict[str, dict[str, int]] = {}
        for name, array in self.variables.items():
            own = ("coordinate",) * (array.ndim - 2)
            if self.model is not None and name in self.named:
                numbered = tuple(f"{name}_dim_{i}" for i in range(array.ndim - 2))
                own = tuple(self.model.dims.get(name, numbered))
            named[name] = dict(zip(("chain", "draw", *own), array.shape, strict=True))
        return named

    def _attributes(self) -> dict[str, Any]:
        """Numbers, text and arrays of numbers: what netCDF and Zarr can keep."""
        return {
            "inference_library": "fuld",
            "inference_library_version": _native.__version__,
            "sampling_time": self.seconds,
            # Attributes of netCDF have one axis at most.
            **{k: np.ravel(v) if np.ndim(v) > 1 else v for k, v in self.settings.items()},
            "stopped": self.stopped,
            "diverged_chains": np.array(self.diverged, np.int64),
        }
