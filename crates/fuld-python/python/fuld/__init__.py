"""Heavy-tailed dynamics for NumPy."""

from fuld._native import __version__

__all__ = ["__version__"]
