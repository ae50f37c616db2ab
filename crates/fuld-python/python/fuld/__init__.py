"""Heavy-tailed dynamics for NumPy.

The law
    `SymmetricStable`, a distribution as those of scipy; `grad_g` and `field_table`, its field.
Samplers
    `sample` draws from exp(-beta f); `systems` and `potentials` say by what and from what.
    `Sampling` is a run in the background; `Interrupted` and `Diverged` are its warnings.
Data
    `tail_index` finds the tail index and the scale of data, as a `TailIndex` with intervals.
Fields, for plots
    `riesz`, `drift_c`, `transport_h`, `flmc_drift`, `conformal_field`.
Optimizers
    `fuld.torch` and `fuld.optax`, which need torch or optax.

``help(fuld.sample)`` and the like say more, with examples.
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
from fuld._sampling import Diverged, Interrupted, Sampling
from fuld._symmetric_stable import SymmetricStable
from fuld._tail_index import Interval, TailIndex, tail_index

__all__ = [
    "ConformalField",
    "Diverged",
    "FieldTable",
    "Interrupted",
    "Interval",
    "Sampling",
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
    """`fuld.torch` and `fuld.optax`, which are imported when they are asked for."""
    if name in ("torch", "optax"):
        return import_module(f"fuld.{name}")
    raise AttributeError(f"module 'fuld' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What users see."""
    return __all__
