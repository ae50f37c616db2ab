"""Heavy-tailed dynamics for NumPy.

The law
    `SymmetricStable`, a distribution with scipy's methods; its field, `grad_g` and `field_table`.
Samplers
    `sample` draws from exp(-beta f), or from a log density, and returns `Samples`; `systems` and
    `potentials` list the names it accepts. `Sampling` is a run in the background;
    `SamplingWarning`, `Diverged`, `Interrupted` and `SlowFunction` are its warnings.
Models
    `sample` takes functions of NumPy, JAX and torch, PyMC models and Stan models;
    `fuld.numpyro.model` wraps those of NumPyro.
Data
    `tail_index` estimates the tail index and the scale of data: a `TailIndex` with intervals.
Fields, for plots
    `riesz`, `drift_c`, `transport_h`, `flmc_drift`, `conformal_field`.
Optimizers
    `fuld.torch` and `fuld.optax`, which require torch or optax.
Kernels for JAX
    `fuld.blackjax`, which requires blackjax.

Every function has examples: ``help(fuld.sample)``.
"""

from importlib import import_module
from types import ModuleType

from fuld._field_table import FieldTable, field_table, grad_g
from fuld._fields import (
    ConformalField,
    conformal_field,
    drift_c,
    flmc_drift,
    riesz,
    transport_h,
)
from fuld._native import __version__, potentials, systems
from fuld._sample import sample
from fuld._samples import Samples
from fuld._sampling import Diverged, Interrupted, Sampling, SamplingWarning
from fuld._slow_functions import SlowFunction
from fuld._symmetric_stable import SymmetricStable
from fuld._tail_index import Interval, TailIndex, tail_index

__all__ = [
    "ConformalField",
    "Diverged",
    "FieldTable",
    "Interrupted",
    "Interval",
    "Samples",
    "Sampling",
    "SamplingWarning",
    "SlowFunction",
    "SymmetricStable",
    "TailIndex",
    "__version__",
    "conformal_field",
    "drift_c",
    "field_table",
    "flmc_drift",
    "grad_g",
    "potentials",
    "riesz",
    "sample",
    "systems",
    "tail_index",
    "transport_h",
]


def __getattr__(name: str) -> ModuleType:
    """Import the parts that require other packages at their first use."""
    if name in ("torch", "optax", "numpyro", "blackjax"):
        return import_module(f"fuld.{name}")
    raise AttributeError(f"module 'fuld' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
