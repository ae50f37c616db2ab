"""Heavy-tailed dynamics for NumPy."""

from fuld._field import ScoreTable, grad_g, score_table
from fuld._native import __version__, potentials, systems
from fuld._sample import sample
from fuld._sampling import Interrupted, Sampling
from fuld._symmetric_stable import SymmetricStable

__all__ = [
    "Interrupted",
    "Sampling",
    "ScoreTable",
    "SymmetricStable",
    "__version__",
    "grad_g",
    "potentials",
    "sample",
    "score_table",
    "systems",
]
