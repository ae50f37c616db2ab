"""Heavy-tailed dynamics for NumPy.

The law
    `SymmetricStable`, a distribution with scipy's methods; its field, `grad_g` and `field_table`.
Samplers
    `sample` draws from exp(-beta f) and returns `Samples`; `systems` and `potentials` list the
    names it accepts. `Sampling` is a run in the background; `SamplingWarning`, `Diverged` and
    `Interrupted` are warnings about draws.
Data
    `tail_index` estimates the tail index and the scale of data: a `TailIndex` with intervals.
Fields, for plots
    `riesz`, `drift_c`, `transport_h`, `flmc_drift`, `conformal_field`.
Optimizers
    `fuld.torch` and `fuld.optax`, which require torch or optax.

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
    """Import `fuld.torch` or `fuld.optax` at its first use."""
    if name in ("torch", "optax"):
        return import_module(f"fuld.{name}")
    raise AttributeError(f"module 'fuld' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
