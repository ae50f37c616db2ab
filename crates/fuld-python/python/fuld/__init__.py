"""Heavy-tailed dynamics for NumPy."""

from fuld._native import __version__, potentials, systems
from fuld._sample import sample
from fuld._sampling import Interrupted, Sampling

__all__ = ["Interrupted", "Sampling", "__version__", "potentials", "sample", "systems"]
