"""Without torch the tests here skip themselves; what they stand on cannot even be imported."""

from importlib.util import find_spec

collect_ignore = (
    []
    if find_spec("torch")
    else ["auto_processes.py", "sharded_gradients.py", "training.py", "two_processes.py"]
)
