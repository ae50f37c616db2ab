"""Leaves out the tests of front ends where their packages are not installed."""

from importlib.util import find_spec

_PACKAGES = ("jax", "torch", "numpyro", "pymc", "arviz")
collect_ignore_glob = [] if all(find_spec(package) for package in _PACKAGES) else ["*.py"]
