"""Leaves out the modules that tests import from here where torch is not installed."""

from importlib.util import find_spec

collect_ignore = (
    []
    if find_spec("torch")
    else [
        "guard_processes.py",
        "guarded.py",
        "interpreted_kernels.py",
        "noise.py",
        "sharded_gradients.py",
        "training.py",
        "two_processes.py",
    ]
)
