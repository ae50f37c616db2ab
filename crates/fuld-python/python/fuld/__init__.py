"""Heavy-tailed dynamics for NumPy."""

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
from fuld._score_table import ScoreTable, grad_g, score_table
from fuld._symmetric_stable import SymmetricStable
from fuld._tail_index import Interval, TailIndex, tail_index

__all__ = [
    "ConformalField",
    "Diverged",
    "Interrupted",
    "Interval",
    "Sampling",
    "ScoreTable",
    "SymmetricStable",
    "TailIndex",
    "__version__",
    "conformal_field",
    "drift_c",
    "flmc_drift",
    "grad_g",
    "potentials",
    "riesz",
    "sample",
    "score_table",
    "systems",
    "tail_index",
    "transport_h",
]
