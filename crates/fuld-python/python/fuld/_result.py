"""Draws with their statistics, and their forms in other packages."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuld import _native

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

    def variables(self) -> dict[str, NDArray[np.float64]]:
        """Arrays (chain, draw), with a third axis if there are several coordinates."""
        arrays = {"x": self.x} | ({} if self.v is None else {"v": self.v})
        if len(self.names) > 1:
            return arrays
        return {name: array[:, :, 0] for name, array in arrays.items()}

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

        dims: tuple[str, ...] = ("chain", "draw")
        coords: dict[str, Any] = {"chain": self.chains, "draw": np.arange(self.x.shape[1])}
        if len(self.names) > 1:
            dims = (*dims, "coordinate")
            coords["coordinate"] = self.names
        data = {name: (dims, array) for name, array in self.variables().items()}
        return xarray.Dataset(data, coords=coords, attrs=self._attributes())

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
